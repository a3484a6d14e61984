#!/usr/bin/env node
// Downloads the published answers (2.4 MB, MIT) from GitHub, at a fixed commit. Writes nothing if the checksum differs.
//   node get-data.mjs [--to FILE] [--from URL]      writes example_model_solutions.jsonl next to this script
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';

const name = 'example_model_solutions.jsonl';
const commit = '3101c7d5072418e28b9008a6636bde82a006892c';
const published = `https://raw.githubusercontent.com/openai/grade-school-math/${commit}/grade_school_math/data/${name}`;
const checksum = '4bc62db838f8418365d51c627bd66294cbdca9fb7f01519cb13f0dce8c51580b';
const withoutIt = 'Nothing was written. `signalbox eval run gsm8k-extract.suite.yaml` needs no download.';

try {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } });
  const to = values.to ?? join(import.meta.dirname, name);
  const shown = relative('', to);
  if (digest(readIfThere(to)) === checksum) {
    console.log(`${shown} already exists, with the published checksum`);
  } else {
    const bytes = await download(values.from ?? published);
    if (digest(bytes) !== checksum) {
      throw new Error(`these are not the published answers: sha256 ${digest(bytes)}, expected ${checksum}`);
    }
    keep(bytes, to);
    console.log(`${shown} has 1,319 problems with four answers each. Next:`);
    console.log(`  signalbox eval run gsm8k.suite.yaml --dataset ${shown}`);
  }
} catch (problem) {
  console.error(`error: ${problem.message}\nhint: ${withoutIt}`);
  process.exitCode = 1;
}

async function download(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (problem) {
    // The message of fetch is only "fetch failed"; the reason (ENOTFOUND, ECONNREFUSED …) is in its cause.
    const why = problem.cause?.code ?? problem.cause?.message ?? problem.message;
    throw new Error(`cannot get ${url}: ${why}. Is this machine offline, or behind a proxy?`);
  }
}

/** Writes a temporary file and renames it, so that the file is never incomplete. */
function keep(bytes, to) {
  const part = join(dirname(to), `.${name}.${randomUUID()}`);
  mkdirSync(dirname(to), { recursive: true });
  try {
    writeFileSync(part, bytes);
    renameSync(part, to);
  } finally {
    rmSync(part, { force: true });
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
