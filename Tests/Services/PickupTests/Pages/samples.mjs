// A gateway that refuses, breaks and is away, before a client of another language: node samples.mjs COMMAND ARGUMENT…
// It starts the command with GATEWAY in its environment. The command reports for ten users, and for `away`, whose calls are all cut until
// the command asks for /up. Writes JSON once the command ended.
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const problem = (response, status, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
  response.end(JSON.stringify({ status, code: 'injected' }))
}
// In the middle of an answer: some clients send a request again by themselves where a connection ends before it.
const cut = (response) => response.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"token":')
const portal = (response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end('<html>Sign in to the network</html>')
}
// What befalls each user's calls, one after the other, the next user beginning with the next fault; then they are answered.
const faults = [
  (response) => problem(response, 429, { 'retry-after': '1' }),
  cut,
  (response) => problem(response, 503, { 'retry-after': '1' }),
  (response) => problem(response, 502),
  portal,
]
const calls = new Map(), due = new Map(), early = [], urls = [], elsewhere = []
let isUp = false

const server = createServer((request, response) => {
  urls.push(request.url)
  if (request.url === '/up') {
    isUp = true
    return response.end()
  }
  const user = request.headers.authorization?.replace('Bearer session-', '')
  const parts = []
  request.on('data', (part) => parts.push(part)).on('end', () => {
    const number = calls.get(user) ?? 0
    calls.set(user, number + 1)
    if (user === 'away' && !isUp) return cut(response)
    if (Date.now() < (due.get(user) ?? 0)) early.push(user)
    const shift = Number(user.split('-')[1] ?? 0)
    if (user !== 'away' && number < 3) {
      const write = response.writeHead.bind(response)
      response.writeHead = (status, headers) => {
        due.set(user, Date.now() + 1000 * Number(headers['retry-after'] ?? 0))
        return write(status, headers)
      }
      return faults[(shift + number) % faults.length](response)
    }
    due.delete(user)
    // Every third one is sent elsewhere, and waits there once for nothing.
    if (request.method === 'POST' && shift % 3 === 0 && user !== 'away') {
      response.writeHead(202, { 'content-type': 'application/json', location: '/v1/apps/shop/token?after=1' })
      return response.end('{}')
    }
    if (request.method === 'GET') {
      elsewhere.push(user)
      if (elsewhere.filter((other) => other === user).length === 1) {
        response.writeHead(204)
        return response.end()
      }
    } else if (!parts.join('').includes(`"userId":"${user}"`)) {
      return problem(response, 400)
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ token: `t-${user}`, version: 10, expires_in: 3600 }))
  })
})

await new Promise((go) => server.listen(0, '127.0.0.1', go))
const [command, ...rest] = process.argv.slice(2)
const client = spawn(command, rest, {
  env: { ...process.env, GATEWAY: `http://127.0.0.1:${server.address().port}` }, stdio: ['ignore', 'pipe', 'inherit'],
})
let answers = ''
client.stdout.on('data', (text) => { answers += text })
const [status] = await new Promise((go) => client.on('close', (...end) => go(end)))
console.log(JSON.stringify({
  status, early, answers: answers.trim().split('\n').sort(), calls: Object.fromEntries(calls), elsewhere: elsewhere.length,
  sessions: urls.filter((url) => url.includes('session-')).length,
}))
process.exit(0)
