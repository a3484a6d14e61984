import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import { valueOfFile } from '../../suite-import/source-files.ts';
import { type Code, javascriptEndings, readCode } from '../code.ts';
import type { AssertionContext } from './assertion-model.ts';
import { inside } from './inside.ts';

/** The value with its variables filled in; code and its files stay as they are. */
export function loadValue(
  value: unknown,
  at: Path | SourceLocation,
  context: AssertionContext,
): { readonly value: unknown } | undefined {
  if (typeof value === 'string' && /^file:\/\/.*\.(py|js|cjs|mjs|ts|rb)(:[\w.]+)?$/.test(value))
    return { value };
  const isFile = typeof value === 'string' && value.startsWith('file://');
  const loaded = isFile ? loadFile(value, context) : { value };
  if ('fault' in loaded) {
    context.notes.add('error', at, loaded.fault);
    return undefined;
  }
  const filled = context.nunjucks.fill(loaded.value, context.vars);
  if ('value' in filled) return filled;
  context.notes.add('error', inside(at, 'value'), `an assertion whose template ${filled.fault} is left out`);
  return undefined;
}

function loadFile(
  name: string,
  { files }: AssertionContext,
): { readonly value: unknown } | { readonly fault: string } {
  const found = files.find(name);
  return 'fault' in found ? found : valueOfFile(found.file);
}

/** What the test, and then the assertion, makes of the answer. */
export function transformsOf(
  own: unknown,
  at: Path | SourceLocation,
  { transforms = [], files, notes }: AssertionContext,
): readonly Code[] | undefined {
  if (own === undefined) return transforms;
  const code = readTransform(own, files);
  if (!('fault' in code)) return [...transforms, code];
  notes.add('error', inside(at, 'transform'), `${code.fault}; the assertion is left out`);
  return undefined;
}

/** The JavaScript that changes an answer, or why it cannot be run. */
export function readTransform(
  given: unknown,
  files: AssertionContext['files'],
): Code | { readonly fault: string } {
  if (typeof given !== 'string') return { fault: 'a `transform` that is no text is not run' };
  return readCode(given, files, javascriptEndings);
}
