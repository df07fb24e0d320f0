// The client of remint.js as a module: import { connect } from 'https://tokens.example.com/remint.mjs'. Types: remint.d.mts.
import './remint.js'

export const { connect, RemintError } = globalThis.remint
export default globalThis.remint
