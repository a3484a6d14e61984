#!/usr/bin/env node
// 1 for an answer of at most `words` words, less for a longer one.
import { readFileSync } from 'node:fs';

const { content, params } = JSON.parse(readFileSync(0, 'utf8'));
const count = content.split(/\s+/).filter(Boolean).length;
const score = Math.min(1, params.words / Math.max(1, count));
console.log(JSON.stringify({ score, detail: `${count} words` }));
