// node node-calls.mjs remint.mjs GATEWAY APP SESSIONS: many calls from Node. SESSIONS is a file with a JSON array.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { run } from './calls.mjs'

const [module, url, app, sessions] = process.argv.slice(2)
const { connect } = await import(pathToFileURL(module))
console.log(JSON.stringify(await run({ connect, url, app, sessions: JSON.parse(readFileSync(sessions, 'utf8')) })))
process.exit(0)
