import { extname } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { toRuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { renderValue } from '../suite/template.ts';

/** A value with every text filled in, or why one of them cannot be, as the end of a sentence. */
export type Filled = { readonly value: unknown } | { readonly fault: string };

/** Fills in templates, whatever Nunjucks they are written in. */
export interface Templates {
  fill(value: unknown, vars: Readonly<Record<string, unknown>>): Filled;
  /** Ends the thread that runs them. */
  end(): void;
}

/** Milliseconds for one value: what a template does for anybody takes less than one of them. */
const defaultLimitMs = 10_000;
/** After so many that took too long, none is run any more: an import must end. */
const mostExpired = 3;

/** Templates that are plain are filled in at once, others in a thread that is started for the first of them. */
export function openTemplates({ limitMs = defaultLimitMs } = {}): Templates {
  let thread: RenderThread | undefined;
  let expired = 0;
  const run = (value: unknown, vars: Readonly<Record<string, unknown>>): Filled => {
    if (expired >= mostExpired) return { fault: 'is not run after others that took too long' };
    const texts = textsOf(value).map(asPromptfooReads);
    thread ??= startRenderThread();
    const reply = thread.ask({ templates: texts, vars }, limitMs);
    if (reply === undefined) {
      expired += 1;
      thread.end();
      thread = undefined;
      return { fault: 'takes too long, or too much memory' };
    }
    return 'fault' in reply ? reply : { value: withTexts(value, reply.texts.values()) };
  };
  return {
    fill(value, vars) {
      const plain = renderValue(value, vars);
      return plain === undefined && value !== undefined ? run(value, vars) : { value: plain };
    },
    end: () => thread?.end(),
  };
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

function withTexts(value: unknown, texts: Iterator<string>): unknown {
  if (typeof value === 'string') return texts.next().value ?? '';
  if (Array.isArray(value)) return value.map((each: unknown) => withTexts(each, texts));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTexts(each, texts)]));
}

/** A thread that fills in templates of strangers, one request at a time. */
interface RenderThread {
  /** Waits for the reply; undefined where it takes longer than the limit, or the thread has died. Then it is of no more use. */
  ask(request: RenderRequest, limitMs: number): RenderReply | undefined;
  end(): void;
}

/** A thread costs some tens of milliseconds to start, on a busy machine seconds. */
const startLimitMs = 30_000;

/** Starts a thread without anything of this process's environment. Throws INTERNAL where it does not start. */
function startRenderThread(): RenderThread {
  const { port1, port2 } = new MessageChannel();
  const signal = new SharedArrayBuffer(4);
  const flag = new Int32Array(signal);
  const workerData: ThreadData = { signal, port: port2 };
  const worker = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), {
    name: 'signalbox-templates',
    env: {},
    execArgv: [],
    workerData,
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  worker.unref();
  port1.unref();
  // What it dies of is seen by the reply that does not come.
  worker.on('error', () => {});
  const take = (limitMs: number): RenderReply | undefined => {
    // The import can do nothing else meanwhile: a case needs its variables before its assertions are read.
    Atomics.wait(flag, 0, 0, limitMs);
    const received: { readonly message: RenderReply } | undefined = receiveMessageOnPort(port1);
    Atomics.store(flag, 0, 0);
    return received?.message;
  };
  if (take(startLimitMs) === undefined)
    throw toRuntimeError('the thread that fills in templates did not start');
  return {
    ask(request, limitMs) {
      port1.postMessage(request);
      return take(limitMs);
    },
    end: () => void worker.terminate(),
  };
}

/** A template with its variables, sent to the thread. */
export interface RenderRequest {
  /** The texts that are filled in, each by itself. */
  readonly templates: readonly string[];
  readonly vars: Readonly<Record<string, unknown>>;
}

/** The texts, or why one of them cannot be filled in, as the end of a sentence. */
export type RenderReply = { readonly texts: readonly string[] } | { readonly fault: string };

/** What the thread is started with: where it says that a reply is there, and the port for both. */
export interface ThreadData {
  /** One 32-bit number: 0 while a reply is waited for, 1 once it is there. */
  readonly signal: SharedArrayBuffer;
  readonly port: import('node:worker_threads').MessagePort;
}

/** Characters; what one template may make. */
export const longestText = 16 * 1024 * 1024;

/** The template as promptfoo gives it to Nunjucks: one with a tag that its line does not close is text. */
function asPromptfooReads(template: string): string {
  const isRaw = /\{%\s*raw\s*%\}/.test(template) && /\{%\s*endraw\s*%\}/.test(template);
  return !isRaw && hasPartialTag(template) ? `{% raw %}${template}{% endraw %}` : template;
}

/** `/({%[^%]*$|{{[^}]*$|{#[^#]*$)/m`, in one pass. */
export function hasPartialTag(template: string): boolean {
  return isPartial(template, '{%', '%') || isPartial(template, '{{', '}') || isPartial(template, '{#', '#');
}

function isPartial(template: string, opener: string, closer: string): boolean {
  let close = 0;
  let line = 0;
  for (let open = template.indexOf(opener); open !== -1; open = template.indexOf(opener, open + 1)) {
    const from = open + opener.length;
    if (close < from) close = template.indexOf(closer, from);
    if (close === -1) return true;
    if (line < from) line = endOfLine(template, from);
    if (line < close) return true;
  }
  return false;
}

function endOfLine(template: string, from: number): number {
  const end = /[\n\r\u2028\u2029]/g;
  end.lastIndex = from;
  return end.exec(template)?.index ?? template.length;
}
