// remint.connect({ url, app, session, apply, device, onProblem }) -> { report, token, stream, close }
// session() gives the customer's session, apply(answer) hands answer.token to the SDK, onProblem(problem) hears why there is
// none; the promise then gives undefined. close() at sign-out.
globalThis.remint = { connect: ({ url, app, session, apply, device, onProblem = () => {} }) => {
  const base = `${url.replace(/\/+$/, '')}/v1/apps/${encodeURIComponent(app)}/`
  const closing = new AbortController()
  const { signal } = closing
  const newest = new Map([['', { version: 0 }]]) // by nonce, if any
  const reports = {}
  let source, drops = 0

  const now = () => Date.now() / 1000
  const pause = (s) => new Promise((go) => setTimeout(go, s * (1000 + 500 * Math.random())))

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

  const ask = async (path, request) => {
    const end = now() + 300
    for (let tries = 1; now() < end; tries++) {
      let response, body
      try {
        const headers = { ...request?.headers, Authorization: `Bearer ${await session()}` }
        if (device) headers['Remint-Device'] = device
        response = await fetch(base + path, { ...request, headers, signal, cache: 'no-store' })
        body = await response.json()
      } catch {} // The status decides.
      const status = response?.status
      if (signal.aborted) return
      if (status === 200 && body) return body
      if (status > 399 && status < 500) return void onProblem(body ?? { status })
      if (status === 202 && body) {
        path = `token?${body.token_url.split('?')[1]}&wait=25`
        request = null
      }
      if (status < 300) tries = 0
      await pause(+response?.headers.get('Retry-After') || Math.min(2 ** tries, 60) / 4)
      if (signal.aborted) return
    }
    onProblem({ code: 'no_answer' })
  }

  const send = async (body, nonce = '') => {
    const before = newest.get(nonce) ?? { version: 0 }
    newest.set(nonce, before)
    before.until = 0 // It was refused: token() asks.
    const headers = { 'Content-Type': 'application/json', Prefer: 'wait=10' }
    return take(await ask('reports', { method: 'POST', body, headers }), before)
  }

  // Applies each newer token, until close().
  const stream = async () => {
    const query = new URLSearchParams({ access_token: await session(), last_event_id: newest.get('').version })
    if (signal.aborted) return
    source?.close()
    const events = source = new EventSource(`${base}token/stream?${query}`)
    const on = (name, act) => events.addEventListener(name, ({ data }) => data && act(JSON.parse(data)))
    on('ready', async ({ after }) => {
      drops = 0
      const { version } = newest.get('')
      if (version && version < after) take(await ask('token')) // It begins after a gap.
    })
    on('token', (answer) => take(answer))
    on('problem', onProblem)
    events.onerror = async () => {
      if (events.readyState < 2) return // It comes again by itself.
      await pause(Math.min(2 ** ++drops, 60))
      if (events === source) stream().catch(events.onerror)
    }
  }

  return {
    // One report of a failure at a time; applies the token.
    report(failure) {
      const body = JSON.stringify(failure)
      return reports[body] ??= send(body, failure.nonce).finally(() => delete reports[body])
    },
    // For SDKs that pull: the caller applies it.
    async token({ minLife = 60 } = {}) {
      const known = newest.get('')
      return known.until > now() + minLife ? known : take(await ask(`token?min_life=${minLife}`), null)
    },
    stream,
    close() {
      closing.abort()
      source?.close()
    },
  }
} }
