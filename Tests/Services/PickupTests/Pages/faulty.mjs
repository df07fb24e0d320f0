// A proxy in front of a gateway that answers some calls itself, after a seeded plan: node faulty.mjs UPSTREAM SEED [FOLDER…]
//
// It writes "faulty ADDRESS" to standard error, and serves the files of the folders too, as one origin with the gateway.
//   POST /faults/upstream/HOST:PORT   sends further calls there
//   GET  /faults/after/COUNT          answers once COUNT calls of the gateway have come
//   GET  /faults/report               what happened, as JSON
// A call that comes before the time of its Retry-After is in `early`.
import { createReadStream, existsSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { join } from 'node:path'

let [upstream, seed, ...folders] = process.argv.slice(2)
// xorshift32: the plan of a seed is the same on every machine.
let state = Number(seed) | 1
const random = () => {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) / 2 ** 32
}

const due = new Map(), counts = { calls: 0, passed: 0, unreachable: 0, streams: 0 }, early = [], waiting = []
const inAddress = []
const problem = (status, code, after) => (response, user) => {
  if (after !== undefined) {
    const isDate = random() < 0.5
    // A date has whole seconds: rounded up, it is never earlier.
    const at = isDate ? Math.ceil(Date.now() / 1000 + after) * 1000 : Date.now() + after * 1000
    due.set(user, at)
    response.setHeader('Retry-After', isDate ? new Date(at).toUTCString() : String(after))
  }
  response.writeHead(status, { 'Content-Type': 'application/problem+json' })
  response.end(JSON.stringify({ type: `urn:remint:problem:${code}`, title: code, status, code }))
}
const faults = {
  429: problem(429, 'too_many_requests', 1), 503: problem(503, 'unavailable', 1), bare429: problem(429, 'too_many_requests'),
  bare503: problem(503, 'unavailable'), 502: (response) => response.writeHead(502).end('<html>'),
  portal: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Sign in</html>'),
  cut: (response) => response.socket.destroy(),
  torn: (response) => response.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"token":'),
}
const names = Object.keys(faults)

const pass = (request, response, body, isStream, user) => {
  const [host, port] = upstream.split(':')
  const { method, url, headers } = request
  const call = send({ host, port, method, path: url, headers: { ...headers, host: upstream }, agent: false }, (answer) => {
    counts.passed++
    if (answer.headers['retry-after']) {
      due.set(user, Date.now() + Number(answer.headers['retry-after']) * 1000)
    }
    response.writeHead(answer.statusCode, answer.headers)
    answer.pipe(response)
    answer.on('error', () => response.socket?.destroy())
    // Two of three streams are cut: after some events, in the middle of one.
    let rest = isStream && random() < 0.66 ? 40 + Math.floor(random() * 900) : Infinity
    if (isStream) answer.on('data', (part) => { if ((rest -= part.length) < 0) response.socket?.destroy() })
  })
  call.on('error', () => {
    counts.unreachable++
    response.socket?.destroy()
  })
  response.on('close', () => call.destroy())
  call.end(body)
}

const answer = (request, response, body) => {
  counts.calls++
  for (const one of waiting.filter(({ count }) => count <= counts.calls)) one.end()
  if (/session|ey[A-Za-z0-9_-]+\.ey/.test(request.url)) inAddress.push(request.url)
  const isStream = request.url.includes('/stream')
  if (isStream) counts.streams++
  // Clients know nothing of each other's Retry-After, and a client's stream nothing of its calls'.
  const user = `${request.headers.authorization} ${request.headers['remint-device']} ${isStream}`
  if (Date.now() < (due.get(user) ?? 0) - 5) early.push(due.get(user) - Date.now())
  due.delete(user)
  const name = random() < 0.45 ? names[Math.floor(random() * names.length)] : undefined
  if (!name) return pass(request, response, body, isStream, user)
  counts[name] = (counts[name] ?? 0) + 1
  faults[name](response, user)
}

const types = { html: 'text/html', js: 'text/javascript', mjs: 'text/javascript' }
const control = (request, response, [, what, value]) => {
  if (what === 'upstream') upstream = value
  if (what === 'after') {
    const wait = { count: Number(value), end: () => response.end() }
    return counts.calls >= wait.count ? wait.end() : void waiting.push(wait)
  }
  response.end(what === 'report' ? JSON.stringify({ ...counts, early, inAddress: inAddress.length }) : '')
}

const server = createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part)).on('end', () => {
    const path = request.url.split('?')[0]
    if (path.startsWith('/faults/')) return control(request, response, path.slice(1).split('/'))
    if (path.startsWith('/v1/')) return answer(request, response, Buffer.concat(parts))
    const file = folders.map((folder) => join(folder, path.slice(1).replaceAll('..', ''))).find((name) => existsSync(name))
    if (!file) return response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': types[file.split('.').pop()] ?? 'application/json' })
    createReadStream(file).pipe(response)
  }).on('error', () => {})
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.error(`faulty 127.0.0.1:${server.address().port}`))
