import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RuntimeEvent } from '../../../src/contract/event.ts';
import type { Binding } from '../../../src/process/binding.ts';
import { type Cassette, type CassetteOptions, openCassette } from '../../../src/process/cassette/cassette.ts';
import type { Message, Reply, Transport } from '../../../src/process/transport.ts';
import { createStoredTextRedact } from '../../../src/runtime/log/scrub.ts';
import { open } from '../harness.ts';

export function newFile(): string {
  return join(mkdtempSync(join(tmpdir(), 'cassette-')), 'run.jsonl');
}

export interface OpenOptions extends CassetteOptions {
  readonly secrets?: readonly string[];
  readonly names?: readonly string[];
  readonly onEvent?: (event: RuntimeEvent) => void;
}

/** Opens a cassette as the runtime does and closes it after the test. */
export async function openTape({
  secrets = [],
  names = ['demo'],
  onEvent,
  ...options
}: OpenOptions): Promise<Cassette> {
  const emit = onEvent ?? (() => {});
  const cassette = await openCassette(options, { names, emit, redact: createStoredTextRedact(secrets) });
  onTestFinished(() => cassette.close());
  return cassette;
}

export async function record(
  file: string,
  binding: Binding,
  messages: readonly Message[],
  options: OpenOptions = {},
): Promise<unknown[]> {
  const cassette = await openTape({ ...options, record: file });
  const { transport } = await open(binding);
  const wrapped = cassette.wrap(binding, () => transport);
  const outcomes: unknown[] = [];
  for (const message of messages) outcomes.push(await outcomeOf(wrapped, message));
  await cassette.close();
  return outcomes;
}

export async function replay(
  file: string,
  binding: Binding,
  messages: readonly Message[],
  options: OpenOptions = {},
): Promise<unknown[]> {
  const cassette = await openTape({ ...options, replay: file });
  const wrapped = cassette.wrap(binding, neverOpened);
  wrapped.warm();
  const outcomes: unknown[] = [];
  for (const message of messages) outcomes.push(await outcomeOf(wrapped, message));
  await wrapped.close();
  return outcomes;
}

export function neverOpened(): Transport {
  throw new Error('the transport of a replayed entry was opened');
}

async function outcomeOf(transport: Transport, message: Message): Promise<unknown> {
  try {
    return bare(await transport.exchange(message));
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const {
      message: words,
      code,
      hint,
      details,
    } = { code: '', hint: '', details: {}, ...thrown, message: thrown.message };
    return { code, message: words, hint, details };
  }
}

export function bare(reply: Reply): unknown {
  if (reply.via === 'process') return { ...reply, stdout: Buffer.from(reply.stdout) };
  return { via: reply.via, result: reply.result?.text, error: reply.error?.text };
}

export function ask(args: object): Message {
  return { method: 'execute', body: JSON.stringify({ args }) };
}

export function linesOf(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
