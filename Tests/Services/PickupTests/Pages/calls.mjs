// Many calls of many users through a client, for pages and for Node. Returns what became of them.
//
// Every second user reports, the others ask for a token; some users hold a stream. `sessions` has the users' sessions in order.
export const run = async ({ connect, url, app, sessions, width = 200, streams = 10 }) => {
  const users = sessions.map((session, number) => ({ session, name: `u-${number}` }))
  const problems = [], versions = new Map(), older = []
  let clients = 0
  const client = (user, apply = () => {}) => connect({
    url, app, session: () => user.session, device: `client-${clients++}`, apply, onProblem: ({ code, status }) => problems.push({ user: user.name, code, status }),
  })
  const report = (user) => client(user).report({ errorCode: 22, userId: user.name })

  // Streams get a token that a later report of another device asks for, through cuts.
  const watching = users.slice(0, streams).map((user) => {
    const open = client(user, ({ version }) => {
      if (version < (versions.get(user.name) ?? 0)) older.push(user.name)
      versions.set(user.name, version)
      for (const one of waits) one()
    })
    open.stream()
    return open
  })
  const waits = new Set()
  const until = (isTrue) => new Promise((go) => {
    const look = () => {
      if (!isTrue()) return
      waits.delete(look)
      go()
    }
    waits.add(look)
    look()
  })

  const tokens = new Array(users.length)
  let next = 0
  const worker = async () => {
    for (let number = next++; number < users.length; number = next++) {
      const user = users[number]
      const answer = number % 2 === 0 ? await report(user) : await client(user).token()
      tokens[number] = answer.token.split('.').length === 3 && answer.version > 0
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  for (const [number, user] of users.slice(0, streams).entries()) {
    const { version } = await report(user)
    await until(() => versions.get(user.name) >= version)
    watching[number].close()
  }
  return {
    calls: users.length, answered: tokens.filter(Boolean).length, streamed: versions.size, older,
    refused: problems.filter(({ status }) => status > 0), noAnswer: problems.filter(({ code }) => code === 'no_answer').length,
  }
}
