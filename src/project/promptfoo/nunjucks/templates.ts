import { isObject } from '../../../json/json.ts';
import { renderValue } from '../template.ts';
import { asPromptfooReads } from './partial-tag.ts';
import { type RenderThread, startRenderThread } from './thread.ts';

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

/** The value with its texts replaced, in their order. */
function withTexts(value: unknown, texts: Iterator<string>): unknown {
  if (typeof value === 'string') return texts.next().value ?? '';
  if (Array.isArray(value)) return value.map((each: unknown) => withTexts(each, texts));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTexts(each, texts)]));
}
