// An edge: it validates the session of a device, vouches for its user, produces the event for Remint, and returns the token.
// README.md has the variables of the environment. Replace `userOf` with the check of your own sessions.
import { spawn } from 'node:child_process'
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const need = (name) => process.env[name] || fail(`${name}: not set. README.md describes it`)
const fail = (text) => { console.error(`edge: ${text}`); process.exit(1) }
const secret = need('EDGE_SECRET'), gateway = need('EDGE_GATEWAY').replace(/\/+$/, ''), key = need('EDGE_GATEWAY_KEY')
const brokers = need('EDGE_BROKERS'), apps = new Set(need('EDGE_APPS').split(',')), topic = process.env.EDGE_TOPIC ?? 'remint.invalidations'
if (secret.length < 32) fail('EDGE_SECRET: shorter than 32 characters. Make one: openssl rand -hex 32')

// Returns the user of the request's session; undefined without a valid session. The session is user.expiry.HMAC-SHA256, as a bearer
// token (apps) or in a cookie (pages).
const userOf = ({ headers }) => {
  const shownSession = headers.authorization?.replace(/^Bearer /, 'session=') ?? headers.cookie ?? ''
  const [, user, expiry, mac] = /(?:^|;\s*)session=([\w-]+)\.(\d+)\.([\w-]+)/.exec(shownSession) ?? []
  if (!user) return
  const wanted = createHmac('sha256', secret).update(`${user}.${expiry}`).digest(), shown = Buffer.from(mac, 'base64url')
  if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted)) return
  return expiry > Date.now() / 1000 ? Buffer.from(user, 'base64url').toString() : undefined
}

// Functions that produce a record and wait until all in-sync replicas have it. kcat is for trials: it needs a process for each event.
const producers = {
  async kafkajs() {
    const { Kafka, logLevel, Partitioners } = createRequire(import.meta.url)('kafkajs')
    const client = new Kafka({ clientId: 'edge', brokers: brokers.split(','), logLevel: logLevel.ERROR })
    // The events of one user stay in one partition, so a duplicate event gets no second token.
    const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    return (record) => producer.send({ topic, acks: -1, timeout: 5000, messages: [record] })
  },
  async kcat() {
    return ({ key, value, headers }) => new Promise((done, failed) => {
      const fields = Object.entries(headers).flatMap(([name, text]) => ['-H', `${name}=${text}`])
      // No report contains this random delimiter (-D), so kcat makes one record of the report.
      const options = ['-P', '-b', brokers, '-t', topic, '-k', key, '-D', randomUUID(), '-X', 'message.timeout.ms=5000']
      const child = spawn('kcat', [...options, ...fields], { stdio: ['pipe', 'ignore', 'inherit'] })
      child.on('error', failed).on('close', (status) => status === 0 ? done() : failed(new Error(`kcat exited with ${status}`)))
      child.stdin.on('error', () => {}).end(value)
    })
  },
}

const percent = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
// Returns a value as JSON in ASCII, for headers: every other character is a JSON escape.
const ascii = (value) => JSON.stringify(value).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

const decoded = (text) => { try { return decodeURIComponent(text) } catch {} }

// Asks the gateway as a trusted backend, only for the user of the session.
const ask = (app, user, query) => fetch(`${gateway}/v1/apps/${percent(app)}/token?${query}`, {
  headers: { 'X-Api-Key': key, 'Remint-Vouched': ascii({ user }) }, signal: AbortSignal.timeout(40_000), redirect: 'error',
})

const write = (response, status, body, headers = {}) => {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...headers }).end(JSON.stringify(body))
}
const refuse = (response, status, code, headers) =>
  write(response, status, { type: `urn:remint:problem:${code}`, title: code, status, code }, headers)

const pass = async (response, answer) => {
  const headers = { 'Cache-Control': 'no-store' }
  for (const name of ['content-type', 'etag', 'location', 'retry-after']) {
    if (answer.headers.has(name)) headers[name] = answer.headers.get(name)
  }
  const body = Buffer.from(await answer.arrayBuffer())
  response.writeHead(answer.status, headers).end(body)
}

const bodyOf = async (request) => {
  const parts = []
  let length = 0
  for await (const part of request) {
    parts.push(part)
    if ((length += part.length) > 65536) return
  }
  return Buffer.concat(parts)
}

const report = async (request, response, app, user) => {
  // A page of another site cannot send this type without a preflight request, so the page cannot report for the user.
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return refuse(response, 415, 'unsupported_media_type')
  const body = await bodyOf(request)
  if (!body) return refuse(response, 413, 'event_too_large', { Connection: 'close' })
  // The version of the token that the gateway knows: the token that answers the report has a higher one.
  const known = await ask(app, user, 'after=0&wait=0')
  if (known.status > 299) return pass(response, known)
  const after = known.status === 200 ? (await known.json()).version : 0
  const id = randomUUID()
  // CloudEvents in binary mode: the value is the report, unchanged. The user is the user of the session, never of the report.
  const headers = {
    ce_specversion: '1.0', ce_id: id, ce_source: '/edge', ce_type: 'remint.report.v1', ce_app: app,
    ce_time: new Date().toISOString(), ce_vouched: JSON.stringify({ user }), 'content-type': 'application/json',
  }
  await produce({ key: `${app}/${percent(user)}`, value: body, headers })
  const url = `/v1/apps/${percent(app)}/token?after=${after}`
  write(response, 202, { event_id: id, after, token_url: url }, { Location: url })
}

const serve = async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://edge')
  const [, name, call] = /^\/v1\/apps\/([^/]+)\/(reports|token)$/.exec(pathname) ?? []
  const app = decoded(name)
  const user = userOf(request)
  if (!user) return refuse(response, 401, 'no_session')
  if (!apps.has(app)) return refuse(response, 404, 'unknown_app')
  if (call === 'reports' && request.method === 'POST') return report(request, response, app, user)
  if (call === 'token' && request.method === 'GET') return pass(response, await ask(app, user, searchParams))
  refuse(response, 405, 'method_not_allowed', { Allow: call === 'token' ? 'GET' : 'POST' })
}

const produce = await (producers[process.env.EDGE_PRODUCER ?? 'kafkajs'] ?? fail('EDGE_PRODUCER: kafkajs or kcat'))()
const server = createServer((request, response) => serve(request, response).catch((error) => {
  console.error(`edge: ${error.message}`)
  if (response.headersSent) response.destroy()
  else refuse(response, 503, 'unavailable', { 'Retry-After': '1' })
}))
server.listen(Number(process.env.EDGE_PORT ?? 8090), '127.0.0.1', () => console.error(`edge: listens on ${server.address().port}`))
