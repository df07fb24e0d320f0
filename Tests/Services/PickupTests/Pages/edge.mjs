// Devices of an edge: node edge.mjs remint.mjs EDGE APP SECRET. Writes JSON.
import { createHmac } from 'node:crypto'
import { pathToFileURL } from 'node:url'

const [module, url, app, secret] = process.argv.slice(2)
const { connect, RemintError } = await import(pathToFileURL(module))
const session = (user, { key = secret, life = 60 } = {}) => {
  const payload = `${Buffer.from(user).toString('base64url')}.${Math.floor(Date.now() / 1000) + life}`
  return `${payload}.${createHmac('sha256', key).update(payload).digest('base64url')}`
}
const call = async (path, headers, body) => {
  const answer = await fetch(`${url}/v1/apps/${app}/${path}`, { method: body ? 'POST' : 'GET', headers, body })
  return { status: answer.status, body: await answer.json().catch(() => undefined), headers: answer.headers }
}
const json = { 'Content-Type': 'application/json' }
const as = (user, how) => ({ Authorization: `Bearer ${session(user, how)}` })
const report = '{"errorCode":22}'
const user = ({ token }) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url')).sub

const statuses = {
  none: (await call('reports', json, report)).status,
  forged: (await call('reports', { ...json, ...as('u-1', { key: 'another secret' }) }, report)).status,
  unsigned: (await call('reports', { ...json, Authorization: `Bearer ${session('u-1').replace(/[^.]+$/, 'AAAA')}` }, report)).status,
  expired: (await call('reports', { ...json, ...as('u-1', { life: -1 }) }, report)).status,
  otherApp: (await fetch(`${url}/v1/apps/other/token`, { headers: as('u-1') })).status,
  form: (await call('reports', { 'Content-Type': 'text/plain', ...as('u-1') }, report)).status,
  long: (await call('reports', { ...json, ...as('u-1') }, 'x'.repeat(70_000))).status,
}

// The session alone names the user, as a bearer token and in a cookie.
const accepted = await call('reports', { ...json, Cookie: `a=b; session=${session('u-1')}` }, report)
const first = await call(`token?${accepted.body.token_url.split('?')[1]}&wait=30`, { Cookie: `session=${session('u-1')}` })
// A report that names another user gets no token of that user, and none at all.
const other = await call('reports', { ...json, ...as('u-2') }, '{"errorCode":22,"userId":"u-1"}')
const otherToken = await call(`token?${other.body.token_url.split('?')[1]}&wait=2`, as('u-2'))

// The clients need no change for an edge.
const users = ['u-1', 'u-2', 'ä " \'b*~']
const answers = await Promise.all(users.map(async (name) => {
  const client = connect({ url, app, session: () => session(name) })
  const reported = await client.report({ errorCode: 22, userId: name })
  return user(reported) === name && (await client.token()).version === reported.version
}))
const refusal = await connect({ url, app, session: () => 'a.b' }).token().catch((error) => error)
console.log(JSON.stringify({
  statuses, accepted: accepted.status, location: accepted.headers.get('location') === accepted.body.token_url,
  first: first.status, user: user(first.body), isNewer: first.body.version > accepted.body.after,
  other: other.status, otherToken: otherToken.status, answers,
  refusal: refusal instanceof RemintError && refusal.status === 401,
}))
process.exit(0)
