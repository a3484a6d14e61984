#!/usr/bin/env node
// Tool. stdin {"args": {"name": "Ada", "language": "fr"}}, stdout {"result": "Bonjour, Ada !"}.
import { json } from 'node:stream/consumers';

const greetings = {
  en: (name) => `Hello, ${name}!`,
  de: (name) => `Hallo, ${name}!`,
  es: (name) => `¡Hola, ${name}!`,
  fr: (name) => `Bonjour, ${name} !`,
  ja: (name) => `${name}さん、こんにちは！`,
};

let reply;
try {
  const { args } = await json(process.stdin);
  reply = { result: greetings[args.language ?? 'en'](args.name) };
} catch (problem) {
  reply = { error: `cannot greet: ${problem}` };
}

// stdout is for the reply and nothing else; print to stderr with console.error to debug. No process.exit(): it could cut the reply off.
process.stdout.write(JSON.stringify(reply));
