#!/usr/bin/env node
// Tool. Answers {"args": {"name": "Ada", "language": "fr"}} with "Bonjour, Ada !".
import { tool } from './signalbox.mjs';

const greetings = {
  en: (name) => `Hello, ${name}!`,
  de: (name) => `Hallo, ${name}!`,
  es: (name) => `¡Hola, ${name}!`,
  fr: (name) => `Bonjour, ${name} !`,
  ja: (name) => `${name}さん、こんにちは！`,
};

export const greet = tool(({ args }) => greetings[args.language ?? 'en'](args.name));

await greet.run(import.meta);
