// remint.connect({ url, app, session, apply, device, onProblem }) -> { report, token, stream, close }
// session() gives the customer's session, apply(answer) hands answer.token to the SDK, onProblem(problem) hears why there is
// none; the promise then gives undefined. close() at sign-out.
// Every call waits for what Retry-After says, and tries for five minutes. A report that found no answer in that time is sent again
// when the page comes back to the foreground or online.
globalThis.remint = { connect: ({ url, app, session, apply, device, onProblem = () => {} }) => {
  const base = `${url.replace(/\/+$/, '')}/v1/apps/${encodeURIComponent(app)}/`
  const closing = new AbortController()
  const { signal } = closing
  const newest = new Map([['', { version: 0 }]]) // by nonce, if any
  const reports = {}
  const unanswered = new Set()
  const pauses = new Set()
  let streaming, heard = 0, retry = 2, drop = () => {}

  const now = () => Date.now() / 1000

  // Ends after s seconds and up to half as much again. Timers of a hidden page are late: whoever comes back looks at the clock.
  const pause = (s) => new Promise((go) => {
    const due = now() + s * (1 + Math.random() / 2)
    const end = () => {
      clearTimeout(timer)
      pauses.delete(look)
      go()
    }
    const look = () => { if (signal.aborted || now() >= due) end() }
    const timer = setTimeout(end, (due - now()) * 1000)
    pauses.add(look)
  })
  // Seconds, or a date (RFC 9110, section 10.2.3).
  const wait = (response, tries) => {
    const after = response?.headers.get('Retry-After')
    return +after || Math.max(0, (Date.parse(after) - Date.now()) / 1000) || Math.min(2 ** tries, 60) / 4
  }

  // The session is in a header alone: addresses get into logs. A call that hangs is one that failed.
  const call = async (path, request, seconds) => {
    const ending = new AbortController()
    const end = () => ending.abort()
    const timer = seconds && setTimeout(end, seconds * 1000)
    signal.addEventListener('abort', end, { signal: ending.signal })
    try {
      const headers = { ...request?.headers, Authorization: `Bearer ${await session()}` }
      if (device) headers['Remint-Device'] = device
      if (signal.aborted) throw signal.reason
      const response = await fetch(base + path, { ...request, headers, signal: ending.signal, cache: 'no-store' })
      return { response, end, body: seconds && await response.json().catch(() => {}) }
    } finally {
      clearTimeout(timer)
      if (seconds) signal.removeEventListener('abort', end)
    }
  }

  // Never an older one after a newer; the same one again only for a report.
  const take = (answer, before) => {
    const known = newest.get(answer?.challenge ?? '')
    if (signal.aborted || !answer || !known) return
    if (answer.version < known.version) return known
    answer.until = now() + answer.expires_in
    newest.set(answer.challenge ?? '', answer)
    if (before !== null && (answer.version > known.version || before === known)) apply(answer)
    return answer
  }

  // null where nobody answered in time.
  const ask = async (path, request) => {
    const end = now() + 300
    for (let tries = 1; ; tries++) {
      let response, body
      try {
        ({ response, body } = await call(path, request, 45))
      } catch {} // The next try decides.
      const status = response?.status
      if (signal.aborted) return
      if (status === 200 && body) return body
      if (status > 399 && status < 500 && status !== 429) return void onProblem(body ?? { status })
      if (status === 202 && body) {
        path = `token?${body.token_url.split('?')[1]}&wait=25`
        request = null
      }
      if (status < 300) tries = 0
      const s = wait(response, tries)
      if (now() + s > end) break
      await pause(s)
      if (signal.aborted) return
    }
    onProblem({ code: 'no_answer' })
    return null
  }

  const send = async (body, nonce = '') => {
    const before = newest.get(nonce) ?? { version: 0 }
    newest.set(nonce, before)
    before.until = 0 // It was refused: token() asks.
    unanswered.delete(body)
    const headers = { 'Content-Type': 'application/json', Prefer: 'wait=10' }
    const answer = await ask('reports', { method: 'POST', body, headers })
    if (answer === null) unanswered.add(body)
    return take(answer, before)
  }
  // One report of a failure at a time.
  const report = (body) => reports[body] ??= send(body, JSON.parse(body).nonce).finally(() => delete reports[body])

  const hear = { // server-sent events, by their names
    async ready({ after }) {
      const { version } = newest.get('')
      if (version && version < after) take(await ask('token')) // It begins after a gap.
    },
    token: (answer) => take(answer),
    problem: onProblem,
  }

  // Reads a stream to its end.
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
        retry = +field('retry') / 1000 || retry
        if (field('data')) hear[field('event')]?.(JSON.parse(field('data')))
      }
    }
  }

  // Applies each newer token, until close().
  const follow = async () => {
    for (let drops = 1; !signal.aborted; drops++) {
      let s
      try {
        const headers = { Accept: 'text/event-stream', 'Last-Event-ID': newest.get('').version }
        const opened = await call('token/stream', { headers })
        const { response } = opened
        if (response.ok) {
          drops = 0
          heard = now()
          drop = opened.end
          await read(response.body)
        } else if (response.status < 500 && response.status !== 429) {
          return onProblem(await response.json().catch(() => ({ status: response.status })))
        } else {
          s = wait(response, drops)
        }
      } catch {} // It was cut off.
      drop()
      await pause(s ?? (drops ? wait(null, drops) : retry))
    }
  }

  const wake = () => {
    if (globalThis.document?.visibilityState === 'hidden') return
    for (const look of [...pauses]) look()
    if (now() - heard > 40) drop() // Not even a heartbeat: it is dead.
    for (const body of [...unanswered]) report(body)
  }
  for (const [target, type] of [[globalThis, 'pageshow'], [globalThis, 'online'], [globalThis.document, 'visibilitychange']]) {
    target?.addEventListener?.(type, wake, { signal })
  }
  const watch = setInterval(() => { if (streaming && now() - heard > 60) drop() }, 20000)

  return {
    // Applies the token.
    report: (failure) => report(JSON.stringify(failure)),
    // For SDKs that pull: the caller applies it.
    async token({ minLife = 60 } = {}) {
      const known = newest.get('')
      return known.until > now() + minLife ? known : take(await ask(`token?min_life=${minLife}`), null)
    },
    stream: () => streaming ??= follow().finally(() => { streaming = null }),
    // For frameworks that are no browser, when the app is in the foreground again.
    resume: wake,
    close() {
      clearInterval(watch)
      closing.abort()
      wake()
    },
  }
} }
