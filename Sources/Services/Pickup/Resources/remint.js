// A client of the gateway for pages, React Native and Node 18. This script defines globalThis.remint. remint.mjs exports the
// same functions as a module, and remint.d.mts has the types.
//
// remint.connect({ url, app, session, apply, device, onProblem }) -> { report, token, stream, resume, close }
//
// session() returns the user's session. Without session(), the browser's cookies are the session. apply(answer) passes
// answer.token to the SDK. report() and token() repeat a failed call after the time of Retry-After until there is an answer.
// close() and the caller's `signal` cancel them. If the gateway refuses a call permanently (400 to 499 except 408, 425 and 429),
// the promise rejects with a RemintError, and onProblem receives the same error. onProblem also receives `no_answer` after five
// minutes without an answer; the call continues. Call close() at sign-out. Tokens are in memory only.
globalThis.remint = (() => {
  const remedies = {
    400: 'send the report as the SDK gave it', 401: 'session() must return a valid session of the signed-in user',
    403: 'report for the signed-in user alone', 404: 'compare url and app with pickup.apps of the gateway',
    closed: 'connect again', no_answer: 'the client tries on; is the gateway ready?',
    no_session: 'session() must return the session; call close() at sign-out',
  }

  // A refusal, with its stable `code` (`remint codes` lists the codes). The error contains no token and no session.
  class RemintError extends Error {
    constructor(app, { status = 0, code = 'refused', detail, retry_after }) {
      const remedy = remedies[code] ?? remedies[status]
      super([`${app}: ${status ? `${status} ` : ''}${code}`, detail, remedy].filter(Boolean).join(': '))
      Object.assign(this, { name: 'RemintError', app, status, code, detail, retryAfter: retry_after })
    }
  }

  const now = () => Date.now() / 1000

  // Returns the seconds of Retry-After, at most an hour; undefined without this header. The header is a number or a date
  // (RFC 9110, section 10.2.3). The client compares a date with the header Date, or with its own clock if it cannot read Date.
  const retryAfter = (response) => {
    const text = response?.headers.get('Retry-After')?.trim()
    if (!text) return
    const date = Date.parse(response.headers.get('Date'))
    const seconds = /^\d+$/.test(text) ? +text : (Date.parse(text) - (date || Date.now())) / 1000
    return seconds >= 0 ? Math.min(seconds, 3600) : undefined
  }

  // Returns the seconds until the next try: a random time (full jitter), added to the time of Retry-After.
  const delay = (response, tries) => {
    const after = retryAfter(response)
    const spread = Math.min(30, 2 ** tries / 4)
    return after === undefined ? Math.random() * spread : after + Math.random() * Math.min(spread, 1 + after / 2)
  }

  const isFinal = (status) => status > 399 && status < 500 && ![408, 425, 429].includes(status)

  // Returns the gateway's problem (RFC 9457). For an answer of another server, returns only the status.
  const problem = async (response) => {
    const { status } = response
    const body = await response.json().catch(() => {})
    return /^[a-z_]+$/.test(body?.code) ? { ...body, status } : { status }
  }

  // Returns a signal that aborts when one of `signals` aborts, when `end` is called, or after `seconds`.
  const limit = (signals, seconds) => {
    const ending = new AbortController()
    const end = () => ending.abort()
    const timer = seconds && setTimeout(end, seconds * 1000)
    for (const signal of signals) {
      if (signal.aborted) end()
      signal.addEventListener('abort', end)
    }
    const release = () => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', end)
    }
    return { signal: ending.signal, end, release }
  }

  const connect = ({ url, app, session, apply = () => {}, device, onProblem = () => {} }) => {
    const base = `${url.replace(/\/+$/, '')}/v1/apps/${encodeURIComponent(app)}/`
    const closing = new AbortController()
    const newest = new Map([['', { version: 0, until: 0 }]]) // by challenge, if any
    const shared = new Map() // calls that have not finished, with their callers
    const pauses = new Set()
    let reporting, streaming, watch, heard = 0, retry = 2, drop = () => {}

    const refusal = (found) => new RemintError(app, found)
    // If a function of the app throws, the page gets its error as an unhandled rejection, and the client continues.
    const hand = (act, value) => { try { act(value) } catch (error) { Promise.reject(error) } }
    const requireOpen = (signal) => {
      if (closing.signal.aborted) throw refusal({ code: 'closed' })
      if (signal?.aborted) throw signal.reason
    }

    // Waits `s` seconds. Timers of a hidden page are late, so resume() checks the clock. It also ends every pause without Retry-After.
    const pause = (s, signal, isFixed) => new Promise((go) => {
      const due = now() + s
      const end = () => {
        clearTimeout(timer)
        pauses.delete(look)
        for (const one of [closing.signal, signal]) one?.removeEventListener('abort', end)
        go()
      }
      const look = () => { if (!isFixed || now() >= due) end() }
      const timer = setTimeout(end, s * 1000)
      pauses.add(look)
      for (const one of [closing.signal, signal]) one?.addEventListener('abort', end)
    })

    // The session is only in a header, because servers log addresses.
    const call = async (path, request, signal) => {
      const headers = { ...request?.headers }
      if (session) {
        const value = await session()
        if (!value) throw refusal({ code: 'no_session' })
        headers.Authorization = `Bearer ${value}`
      }
      if (device) headers['Remint-Device'] = device
      if (signal.aborted) throw signal.reason
      // A redirect must not send the session to another server.
      return fetch(base + path, { ...request, headers, signal, cache: 'no-store', redirect: 'error' })
    }

    // Repeats a call until there is an answer. A try that takes 45 seconds has failed.
    const ask = async (path, request, signal) => {
      const first = [path, request]
      const started = now()
      let polls = 0, isNoted = false
      for (let tries = 1; ; tries++) {
        let response
        const asked = now()
        const ending = limit([closing.signal, signal], 45)
        try {
          response = await call(path, request, ending.signal)
          if (isFinal(response.status)) throw refusal(await problem(response))
          const body = await response.json().catch(() => {})
          if (response.status === 200 && typeof body?.token === 'string') return body // Otherwise a network's sign-in page.
          if (response.status === 202 && body?.token_url) {
            [path, request, polls, tries] = [`token?${body.token_url.split('?')[1]}&wait=25`, undefined, 0, 0]
          }
          if (response.status === 204) {
            if (++polls > 1) [path, request] = first
            // A server that waited for a token works. If the server answers at once, the client makes longer and longer pauses.
            if (now() - asked >= 1) tries = 0
          }
        } catch (error) {
          requireOpen(signal)
          if (error instanceof RemintError) throw error
        } finally {
          ending.release()
        }
        if (!isNoted && now() - started > 300) {
          isNoted = true
          hand(onProblem, refusal({ code: 'no_answer' }))
        }
        await pause(delay(response, tries), signal, retryAfter(response) !== undefined)
        requireOpen(signal)
      }
    }

    // Callers of the same call share one request. The client cancels the request when all callers have canceled.
    const share = (key, start, signal) => {
      let one = shared.get(key)
      if (!one) {
        const ending = new AbortController()
        one = { ending, callers: 0 }
        shared.set(key, one)
        one.forget = () => {
          if (shared.get(key) === one) shared.delete(key)
          if (reporting === one) reporting = undefined
        }
        one.answer = start(ending.signal).finally(one.forget)
        one.answer.catch((error) => { if (error instanceof RemintError && error.code !== 'closed') hand(onProblem, error) })
      }
      one.callers++
      return join(one, signal)
    }
    const join = (one, signal) => {
      const result = new Promise((resolve, reject) => {
        const leave = () => {
          reject(signal.reason)
          if (--one.callers > 0) return
          one.forget()
          one.ending.abort(signal.reason)
        }
        if (signal?.aborted) return leave()
        signal?.addEventListener('abort', leave)
        one.answer.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave))
      })
      result.catch(() => {}) // A caller may ignore this promise and use onProblem.
      return result
    }

    // Keeps an answer unless a newer one is known. Applies the answer to a report even if the client knew its token already.
    const take = (answer, before) => {
      requireOpen()
      const challenge = answer.challenge ?? ''
      const known = newest.get(challenge) ?? { version: 0 }
      if (answer.version < known.version) return known
      // If the answer has the refused token again, the token remains refused.
      const isRefused = answer.version === known.version && known.until === 0
      answer.until = isRefused ? 0 : now() + answer.expires_in
      // The random part makes devices renew at different moments.
      answer.early = answer.version > known.version ? Math.min(3600, answer.expires_in * (0.1 + Math.random() / 10)) : 0
      newest.set(challenge, answer)
      if (newest.size > 100) newest.delete([...newest.keys()].find((one) => one !== '' && one !== challenge))
      if (before !== null && (answer.version > known.version || before === known)) hand(apply, answer)
      return answer
    }

    const send = async (body, nonce, signal) => {
      const before = newest.get(nonce) ?? { version: 0 }
      newest.set(nonce, before)
      before.until = 0 // The vendor refused this token.
      const headers = { 'Content-Type': 'application/json', Prefer: 'wait=10' }
      return take(await ask('reports', { method: 'POST', body, headers }, signal), before)
    }

    const report = (failure, { signal } = {}) => {
      const body = JSON.stringify(failure)
      const nonce = failure?.nonce ?? ''
      const answer = share(`report ${body}`, (ending) => send(body, nonce, ending), signal)
      const one = shared.get(`report ${body}`)
      if (nonce === '' && one) reporting = one
      return answer
    }

    const renew = (life, signal) =>
      share(`token ${life}`, async (ending) => take(await ask(`token?min_life=${life}`, undefined, ending), null), signal)

    const token = ({ minLife = 60, signal } = {}) => {
      const known = newest.get('')
      const left = known.until - now()
      if (left > minLife) {
        if (left < known.early) renew(Math.min(86400, Math.ceil(left) + 1)) // The caller gets the known token.
        return Promise.resolve(known)
      }
      if (!reporting) return renew(minLife, signal)
      // The answer to the report is the next token.
      reporting.callers++
      const answer = join(reporting, signal).catch(() => {
        requireOpen(signal)
        return renew(minLife, signal)
      })
      answer.catch(() => {})
      return answer
    }

    const hear = { // server-sent events, by their names
      ready({ after }) {
        const { version } = newest.get('')
        if (!version || version >= after) return
        share('gap', async (ending) => take(await ask('token', undefined, ending))) // The client missed tokens: get the newest one.
      },
      token: (answer) => take(answer),
      problem: (found) => hand(onProblem, refusal(found)),
    }

    // Reads a stream until its connection closes.
    const read = async (body) => {
      let text = ''
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return
        heard = now()
        const events = (text + value).split(/\r?\n\r?\n/)
        text = events.pop()
        for (const event of events) {
          const field = (name) => event.match(new RegExp(`^${name}: ?(.*)$`, 'm'))?.[1]
          const ms = field('retry')
          if (/^\d{1,7}$/.test(ms)) retry = Math.min(3600, Math.max(0.5, ms / 1000))
          if (field('data')) hear[field('event')]?.(JSON.parse(field('data')))
        }
      }
    }

    // Opens a stream, reads it and returns the response. `isRead` is true if the response was a stream.
    const open = async () => {
      const ending = limit([closing.signal])
      const opening = setTimeout(ending.end, 45_000)
      drop = ending.end
      heard = now()
      let response, isRead = false
      try {
        const headers = { Accept: 'text/event-stream', 'Last-Event-ID': newest.get('').version }
        response = await call('token/stream', { headers }, ending.signal)
        clearTimeout(opening)
        if (isFinal(response.status)) throw refusal(await problem(response))
        isRead = response.ok && /event-stream/.test(response.headers.get('Content-Type'))
        heard = now()
        if (isRead) await read(response.body)
      } catch (error) {
        requireOpen()
        if (error instanceof RemintError) throw error
      } finally {
        clearTimeout(opening)
        ending.end()
        ending.release()
      }
      return { response, isRead }
    }

    // Applies each newer token until close() or a refusal. Each connection starts after the newest known version.
    const follow = async () => {
      for (let drops = 1; ; drops++) {
        requireOpen()
        const { response, isRead } = await open()
        if (isRead) drops = 0
        const s = drops ? delay(response, drops) : retry * (0.5 + Math.random())
        await pause(s, undefined, retryAfter(response) !== undefined)
      }
    }

    const stream = () => {
      if (streaming) return streaming
      watch ??= setInterval(() => { if (now() - heard > 60) drop() }, 20_000) // No heartbeat came: connect again.
      watch.unref?.()
      streaming = follow().catch((error) => {
        clearInterval(watch)
        watch = streaming = undefined
        if (error.code === 'closed') return
        hand(onProblem, error)
        throw error
      })
      streaming.catch(() => {})
      return streaming
    }

    const resume = () => {
      if (globalThis.document?.visibilityState === 'hidden') return
      for (const look of [...pauses]) look()
      if (now() - heard > 40) drop()
    }
    const wakes = [[globalThis, 'pageshow'], [globalThis, 'online'], [globalThis.document, 'visibilitychange']]
    for (const [target, type] of wakes) target?.addEventListener?.(type, resume, { signal: closing.signal })

    const close = () => {
      closing.abort()
      newest.clear()
      newest.set('', { version: 0, until: 0 })
    }
    return { report, token, stream, resume, close }
  }

  return { connect, RemintError }
})()
