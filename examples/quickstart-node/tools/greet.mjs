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

// Write only the reply to stdout. To debug, use console.error. Do not call process.exit(), which can truncate the reply.
process.stdout.write(JSON.stringify(reply));
