import { extname } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { toRuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { renderValue } from '../suite/template.ts';

/** The rendered value, or the reason of a failure as the end of a sentence. */
export type Filled = { readonly value: unknown } | { readonly fault: string };

export interface Templates {
  fill(value: unknown, vars: Readonly<Record<string, unknown>>): Filled;
  end(): void;
}

/** Milliseconds for one value. Normal templates need less than one. */
const defaultLimitMs = 10_000;
/** After this many timeouts no template is run, so that an import ends. */
const mostExpired = 3;

export function openTemplates({ limitMs = defaultLimitMs } = {}): Templates {
  let thread: RenderThread | undefined;
  let expired = 0;
  const run = (value: unknown, vars: Readonly<Record<string, unknown>>): Filled => {
    if (expired >= mostExpired) return { fault: 'does not run, because other templates took too long' };
    const texts = textsOf(value).map(asPromptfooReads);
    thread ??= startRenderThread();
    const reply = thread.ask({ templates: texts, vars }, limitMs);
    if (reply === undefined) {
      expired += 1;
      thread.end();
      thread = undefined;
      return { fault: 'takes too much time or memory' };
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

/** A thread that renders untrusted templates, one request at a time. */
interface RenderThread {
  /** Waits for the reply. Returns undefined after a timeout or if the thread died; do not use the thread again. */
  ask(request: RenderRequest, limitMs: number): RenderReply | undefined;
  end(): void;
}

/** A thread starts in tens of milliseconds, but on a busy machine in seconds. */
const startLimitMs = 30_000;

/** The thread gets no environment variables. Throws INTERNAL if it does not start. */
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
  worker.on('error', () => {});
  const take = (limitMs: number): RenderReply | undefined => {
    // Blocking is fine: a case needs its variables before its assertions are read.
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

export interface RenderRequest {
  readonly templates: readonly string[];
  readonly vars: Readonly<Record<string, unknown>>;
}

/** The rendered texts, or the reason of a failure as the end of a sentence. */
export type RenderReply = { readonly texts: readonly string[] } | { readonly fault: string };

export interface ThreadData {
  readonly signal: SharedArrayBuffer;
  readonly port: import('node:worker_threads').MessagePort;
}

/** The maximum length of a rendered text in characters. */
export const longestText = 16 * 1024 * 1024;

/** promptfoo treats a template with a tag that its line does not close as plain text. */
function asPromptfooReads(template: string): string {
  const isRaw = /\{%\s*raw\s*%\}/.test(template) && /\{%\s*endraw\s*%\}/.test(template);
  return !isRaw && hasPartialTag(template) ? `{% raw %}${template}{% endraw %}` : template;
}

/** Equivalent to `/({%[^%]*$|{{[^}]*$|{#[^#]*$)/m`, in one pass. */
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
