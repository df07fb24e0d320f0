// Clients of a gateway that refuses, stalls and breaks: node retries.mjs remint.mjs. Time passes 30 times as fast. Writes JSON.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const speed = 30
const { setTimeout: realTimeout, setInterval: realInterval } = globalThis
const realNow = Date.now, epoch = realNow()
Date.now = () => epoch + (realNow() - epoch) * speed
// The limit of one call passes as it does: a busy machine would reach a thirtieth of it.
const callLimit = 45_000
globalThis.setTimeout = (act, ms, ...rest) => realTimeout(act, ms === callLimit ? ms : ms / speed, ...rest)
globalThis.setInterval = (act, ms, ...rest) => realInterval(act, ms / speed, ...rest)
const page = new EventTarget()
globalThis.addEventListener = page.addEventListener.bind(page)
globalThis.document = Object.assign(new EventTarget(), { visibilityState: 'visible' })
const remint = await import(pathToFileURL(process.argv[2]))

const problem = (response, status, headers = {}) => {
  const date = new Date(Date.now()).toUTCString()
  response.writeHead(status, { 'content-type': 'application/problem+json', date, ...headers })
  response.end(JSON.stringify({ status, code: 'injected' }))
}
const token = (user, version) => JSON.stringify({ token: `t-${user}`, version, expires_in: 3600 })
// What befalls a user's calls, one after the other; then they are answered.
const faults = [
  (response) => problem(response, 429, { 'retry-after': '7' }),
  (response) => problem(response, 503, { 'retry-after': '3' }),
  (response) => response.destroy(),
  (response) => { response.writeHead(429, { 'retry-after': '2', 'content-type': 'text/html' }); response.end('<html>') },
  (response) => problem(response, 503, { 'retry-after': new Date(Date.now() + 6000).toUTCString() }),
]
const calls = new Map(), due = new Map(), early = [], urls = []
let isDown = false, streams = 0, lastEvents = []

const server = createServer((request, response) => {
  urls.push(request.url)
  const user = request.headers.authorization?.replace('Bearer session-', '')
  request.resume().on('end', () => {
    if (isDown) return response.destroy()
    if (user?.startsWith('refused-')) return problem(response, Number(user.split('-')[1]))
    if (user === 'stuck') return problem(response, 503, { 'retry-after': '2' })
    if (request.url.includes('/stream')) return stream(request, response)
    if (Date.now() < (due.get(user) ?? 0) - 1500) early.push(user)
    const number = calls.get(user) ?? 0
    calls.set(user, number + 1)
    const shift = user.startsWith('few') ? 0 : Number(user.split('-')[1])
    // Each user meets up to five faults, beginning with another one.
    if (number < shift % 6) {
      const fault = faults[(shift + number) % faults.length]
      const write = response.writeHead.bind(response)
      response.writeHead = (status, headers) => {
        const after = headers['retry-after'] ?? '0'
        due.set(user, isNaN(after) ? Date.parse(after) : Date.now() + 1000 * Number(after))
        return write(status, headers)
      }
      return fault(response)
    }
    due.delete(user)
    // Every third one is told to look elsewhere.
    if (request.method === 'POST' && shift % 3 === 0) {
      response.writeHead(202, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ token_url: '/v1/apps/shop/token?after=1' }))
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(token(user, 10))
  })
})

// The first stream is refused, the second cut in the middle of an event, the third goes on from the version that the client has.
const stream = (request, response) => {
  streams += 1
  lastEvents.push(request.headers['last-event-id'])
  if (streams === 1) return problem(response, 503, { 'retry-after': '4' })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (version) => `id: ${version}\nevent: token\ndata: ${token('streamed', version)}\n\n`
  response.write('retry: 1000\nevent: ready\ndata: {"after":0}\n\n: heartbeat\n\n')
  if (streams === 2) {
    response.write(event(11).slice(0, 20))
    realTimeout(() => {
      response.write(event(11).slice(20) + event(12).slice(0, 15))
      realTimeout(() => response.destroy(), 20)
    }, 20)
    return
  }
  response.write(event(13) + 'retry: 2500\nevent: reconnect\ndata: {}\n\n')
}

await new Promise((go) => server.listen(0, '127.0.0.1', go))
const url = `http://127.0.0.1:${server.address().port}`
const applied = new Map(), problems = []
const connect = (user) => remint.connect({
  url, app: 'shop', session: () => `session-${user}`, device: user,
  apply: (answer) => applied.set(user, [...applied.get(user) ?? [], answer.version]),
  onProblem: (problem) => problems.push({ user, ...problem }),
})

// 100 reports through faults.
const users = Array.from({ length: 100 }, (_, number) => `u-${number}`)
const open = users.map(connect)
const answers = await Promise.all(open.map((client, number) => client.report({ code: 22, userId: users[number] })))
const lost = users.filter((user, number) => !answers[number] || applied.get(user)?.length !== 1)

// A gateway that is away for more than five minutes: the app hears of it, and the report goes on in the foreground.
const until = async (isTrue) => { while (!isTrue()) await new Promise((go) => realTimeout(go, 5)) }
isDown = true
const before = problems.length // Of the 100 reports, a slow machine may have kept some for five minutes of this clock.
const unanswered = () => problems.slice(before).filter((problem) => problem.code === 'no_answer')
const late = connect('few-1')
const lateAnswer = late.report({ code: 22, userId: 'few-1' })
await until(() => unanswered().length > 0)
const noAnswer = unanswered().map((problem) => problem.user)
isDown = false
document.visibilityState = 'visible'
document.dispatchEvent(new Event('visibilitychange'))
await lateAnswer

// Refusals for good are typed, and no call follows them.
const refusals = []
for (const status of [400, 401, 403, 404, 409, 422]) {
  const client = connect(`refused-${status}`)
  for (const act of [() => client.report({ code: 22 }), () => client.token(), () => client.stream()]) {
    const error = await act().then(() => undefined, (error) => error)
    refusals.push(error instanceof remint.RemintError && error.code === 'injected' && error.status === status)
  }
  client.close()
}
const refused = problems.filter((problem) => problem.code === 'injected').length

// Callers at the same time share a call. A caller cancels alone; the last one cancels the call.
const few = connect('few-3')
const [one, two] = await Promise.all([few.token(), few.token()])
await Promise.all([few.report({ code: 22 }), few.report({ code: 22 })])
const coalesced = { calls: calls.get('few-3'), isOne: one === two }
const stuck = connect('stuck')
const canceling = new AbortController()
const canceled = stuck.token({ signal: canceling.signal }).catch((error) => error.name)
const other = stuck.token().catch((error) => error.code)
canceling.abort()
const cancels = [await canceled]
stuck.close()
cancels.push(await other, await stuck.token().catch((error) => error.code))

// A token is renewed before it has expired, while the known one serves: a fifth of an hour before the end at the earliest.
const renewing = connect('few-4')
await renewing.token()
const realTime = Date.now
Date.now = () => realTime() + 3300_000
const served = await renewing.token()
await until(() => calls.get('few-4') === 2)
Date.now = realTime
const renewed = { calls: calls.get('few-4'), version: served.version }

// A stream through a refusal and a cut.
const streaming = connect('few-2')
streaming.stream()
await until(() => applied.get('few-2')?.includes(13))
for (const client of [...open, late, few, renewing, streaming]) client.close()
server.closeAllConnections()
server.close()

console.log(JSON.stringify({
  lost, early, noAnswer, refusals, refused, coalesced, cancels, renewed, streamed: applied.get('few-2'), lastEvents,
  faults: [...calls.values()].reduce((sum, count) => sum + count - 1, 0),
  sessions: urls.filter((url) => url.includes('session-') || url.includes('access_token')).length,
  others: problems.filter((problem) => !['no_answer', 'injected'].includes(problem.code)).length,
}))
process.exit(0)
