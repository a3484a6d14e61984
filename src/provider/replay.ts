import { readFile } from 'node:fs/promises';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { abortedError } from '../transport/deadline.ts';
import { describeDifference } from './difference.ts';
import {
  type Call,
  decodeExchange,
  describeCall,
  digestCall,
  type Exchange,
  type Outcome,
} from './exchange.ts';

/** Recorded model calls, each of which answers once. */
export interface Recording {
  /** A model that answers from the recording what the provider of that id answered. Its calls throw REPLAY_MISS. */
  model(provider: string, modelName: string): LanguageModelV4;
}

/** Reads a recording. Lines that were cut off are left out. Throws FILE_UNREADABLE. */
export async function openRecording(file: string): Promise<Recording> {
  const exchanges = readExchanges(file, await readText(file));
  const open = groupByDigest(exchanges);
  const answer = (call: Call): Outcome => {
    const recorded = open.get(digestCall(call));
    const next = recorded?.shift();
    if (next !== undefined) return next.outcome;
    throw missed(
      call,
      recorded === undefined ? describeDifference(call, exchanges) : 'its recorded answers are used up',
    );
  };
  return { model: (provider, modelName) => replayModel(provider, modelName, answer) };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    const message = `the recording ${file} cannot be read: ${toRuntimeError(thrown).message}`;
    throw new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
  }
}

function readExchanges(file: string, text: string): Exchange[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const exchanges = lines.map(decodeExchange).filter((exchange) => exchange !== undefined);
  if (exchanges.length > 0 || lines.length === 0) return exchanges;
  throw new RuntimeError('FILE_UNREADABLE', `${file} holds no recorded model call`, {
    hint: 'Make a recording with `--record FILE`.',
  });
}

/** Of each digest in the order in which the calls began. */
function groupByDigest(exchanges: readonly Exchange[]): Map<string, Exchange[]> {
  const groups = new Map<string, Exchange[]>();
  for (const exchange of exchanges.toSorted(inOrder(exchanges))) {
    const same = groups.get(exchange.digest);
    if (same === undefined) groups.set(exchange.digest, [exchange]);
    else same.push(exchange);
  }
  return groups;
}

function inOrder(exchanges: readonly Exchange[]): (one: Exchange, other: Exchange) => number {
  const recorders = new Map<string, number>();
  for (const { recorder } of exchanges) recorders.set(recorder, recorders.get(recorder) ?? recorders.size);
  const rank = ({ recorder }: Exchange) => recorders.get(recorder) ?? 0;
  return (one, other) => rank(one) - rank(other) || one.number - other.number;
}

function replayModel(provider: string, model: string, answer: (call: Call) => Outcome): LanguageModelV4 {
  const ask = (mode: Call['mode'], options: LanguageModelV4CallOptions) => {
    if (options.abortSignal?.aborted) throw abortedError(provider, options.abortSignal);
    const outcome = answer(describeCall({ provider, model, mode }, options));
    if (outcome.kind === 'error') throw outcome.error;
    return outcome;
  };
  return {
    specificationVersion: 'v4',
    provider: 'replay',
    modelId: model,
    supportedUrls: {},
    doGenerate: async (options) => {
      const outcome = ask('generate', options);
      if (outcome.kind === 'result') return outcome.result;
      throw new RuntimeError('INTERNAL', 'the recording has a stream where a result belongs');
    },
    doStream: async (options) => {
      const outcome = ask('stream', options);
      if (outcome.kind === 'parts') return { stream: ReadableStream.from(outcome.parts) };
      throw new RuntimeError('INTERNAL', 'the recording has a result where a stream belongs');
    },
  };
}

function missed({ provider, mode }: Call, why: string): RuntimeError {
  const what = mode === 'stream' ? 'streamed call' : 'call';
  return new RuntimeError(
    'REPLAY_MISS',
    `no recorded answer to this ${what} of provider "${provider}": ${why}`,
  );
}
