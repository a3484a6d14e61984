#!/usr/bin/env node
import { readFileSync } from 'node:fs';

let answer = { allow: false, reason: 'not a request' };
try {
  const { name } = JSON.parse(readFileSync(0, 'utf8')).request;
  answer = { allow: typeof name === 'string' && name !== 'rm' };
} catch {}
process.stdout.write(JSON.stringify(answer));
