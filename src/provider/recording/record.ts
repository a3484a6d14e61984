import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { appendLines, openToAppend, unwritable } from '../../cassette/append.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Peer } from '../open/failure.ts';
import {
  type Call,
  describeCall,
  digestCall,
  encodeExchange,
  type Outcome,
  type Redact,
  redactCall,
} from './exchange.ts';

/** Writes down what models are asked and answer. */
export interface Recorder {
  /**
   * The model, with every call that it answers or fails written down before the caller has the end of it. A call
   * that its caller gives up is not. Calls throw FILE_UNREADABLE when they cannot be written.
   */
  wrap(model: LanguageModelV4, peer: Peer): LanguageModelV4;
  /** Waits for what is being written and lets the file go. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens a recording to add to it, or begins one that its owner alone may read: it holds the prompts and answers,
 * but no header and no key, and nothing that `redact` takes out.
 */
export function openRecorder(file: string, redact?: Redact): Recorder {
  const opening = openToAppend(file);
  // Told to whoever records a call.
  opening.catch(() => {});
  const recorder = randomUUID();
  let calls = 0;
  let written: Promise<void> = Promise.resolve();
  const write = (line: string) => {
    const work = written.then(async () => append(await opening, line));
    written = work.catch(() => {});
    return work.catch((thrown: unknown) => {
      throw unwritable(file, thrown);
    });
  };
  const begin = async (asked: Call, peer: Peer): Promise<Write> => {
    const call = redact === undefined ? asked : redactCall(asked, redact);
    calls += 1;
    const number = calls;
    const digest = digestCall(call);
    await opening;
    return (outcome) => {
      const line = encodeExchange({ ...call, digest, recorder, number, outcome }, peer.secrets, redact);
      return write(`${line}\n`);
    };
  };
  return {
    wrap: (model, peer) =>
      recordModel(model, (mode, options) =>
        begin(describeCall({ provider: peer.id, model: model.modelId, mode }, options), peer),
      ),
    close: async () => {
      await written;
      await opening.then((handle) => handle.close()).catch(() => {});
    },
  };
}

async function append(handle: FileHandle, line: string): Promise<void> {
  await appendLines(handle, line);
  await handle.datasync();
}

type Write = (outcome: Outcome) => Promise<void>;

type Begin = (mode: Call['mode'], options: LanguageModelV4CallOptions) => Promise<Write>;

function recordModel(model: LanguageModelV4, begin: Begin): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      const write = await begin('generate', options);
      const result = await orWrite(write, model.doGenerate(options));
      await write({ kind: 'result', result: withoutTransport(result) });
      return result;
    },
    doStream: async (options) => {
      const write = await begin('stream', options);
      const { stream, ...rest } = await orWrite(write, model.doStream(options));
      return { ...rest, stream: stream.pipeThrough(recordParts(write)) };
    },
  };
}

async function orWrite<T>(write: Write, work: PromiseLike<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = toRuntimeError(thrown, 'PROVIDER_FAILED');
    if (error.code !== 'ABORTED') await write({ kind: 'error', error });
    throw thrown;
  }
}

/** What is about the request and the connection is not the model's answer. */
function withoutTransport({
  request: _,
  response,
  ...result
}: LanguageModelV4GenerateResult): LanguageModelV4GenerateResult {
  if (response === undefined) return result;
  const { headers: __, body: ___, ...kept } = response;
  return { ...result, response: kept };
}

function recordParts(write: Write): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  const parts: LanguageModelV4StreamPart[] = [];
  return new TransformStream({
    transform: async (part, controller) => {
      parts.push(part);
      const isEnd = part.type === 'finish' || part.type === 'error';
      const failure =
        isEnd && !isAborted(part) ? await failureOf(write({ kind: 'parts', parts })) : undefined;
      controller.enqueue(failure === undefined ? part : { type: 'error', error: failure });
    },
  });
}

function isAborted(part: LanguageModelV4StreamPart): boolean {
  return part.type === 'error' && part.error instanceof RuntimeError && part.error.code === 'ABORTED';
}

async function failureOf(work: Promise<void>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}
