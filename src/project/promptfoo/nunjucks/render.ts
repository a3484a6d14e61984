import nunjucks from 'nunjucks';
import { range, requireShort } from './harden.ts';
import { type Inspection, inspect, refusalOf } from './inspect.ts';
import { longestText, type RenderReply, type RenderRequest } from './job.ts';

/** Fills in texts as promptfoo does: without escapes, with its filter `load`. Never throws. */
export function renderAll({ templates, vars }: RenderRequest): RenderReply {
  const known = new Set(Object.keys(vars));
  const texts: string[] = [];
  try {
    for (const text of templates) {
      const { template, inspection } = compile(text);
      const refusal = refusalOf(inspection, known);
      if (refusal !== undefined) return { fault: refusal };
      const made = template().render({ ...vars });
      if (made.length > longestText) return { fault: 'makes a text of more than 16 MiB' };
      texts.push(made);
    }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { fault: `fails: ${message.replaceAll(/\s+/g, ' ').replace(/^\(unknown path\)\s*/, '')}` };
  }
  return { texts };
}

// Without loaders: a template reads no file.
const environment = new nunjucks.Environment([], { autoescape: false, throwOnUndefined: false });
environment.addFilter('load', (text: string): unknown => JSON.parse(text));
environment.addGlobal('range', range);
boundFilters(Reflect.get(environment, 'filters'));

function boundFilters(filters: object): void {
  for (const [name, filter] of Object.entries(filters)) {
    const bounded = function (this: unknown, ...args: unknown[]): unknown {
      for (const each of args) requireShort(each);
      return requireShort(Reflect.apply(filter, this, args));
    };
    environment.addFilter(name, bounded);
  }
}

interface Compiled {
  readonly inspection: Inspection;
  /** Made when nothing speaks against it. */
  readonly template: () => nunjucks.Template;
}

/** A prompt is filled in for every case. */
const compiled = new Map<string, Compiled>();
const mostCompiled = 500;

function compile(text: string): Compiled {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  let template: nunjucks.Template | undefined;
  const made: Compiled = {
    inspection: inspect(text),
    template: () => (template ??= new nunjucks.Template(text, environment)),
  };
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(text, made);
  return made;
}
