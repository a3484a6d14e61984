import type { Source } from '../../../yaml/source.ts';
import { valueOfFile } from '../../suite-import/source-files.ts';
import { type Code, javascriptEndings, readCode } from '../code.ts';
import type { AssertionContext } from './assertion-model.ts';

/** The value with its variables filled in; code and its files stay as they are. */
export function loadValue(
  source: Source,
  context: AssertionContext,
): { readonly value: unknown } | { readonly fault: string } {
  const value = source.whole();
  if (typeof value === 'string' && /^file:\/\/.*\.(py|js|cjs|mjs|ts|rb)(:[\w.]+)?$/.test(value))
    return { value };
  const isFile = typeof value === 'string' && value.startsWith('file://');
  const loaded = isFile ? loadFile(value, context) : { value };
  if ('fault' in loaded) return loaded;
  const filled = context.nunjucks.fill(loaded.value, context.vars);
  return 'value' in filled ? filled : { fault: `an assertion whose template ${filled.fault} is left out` };
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
  own: Source,
  { transforms = [], files }: AssertionContext,
): readonly Code[] | { readonly fault: string } {
  if (!own.isGiven) return transforms;
  const code = readTransform(own, files);
  return 'fault' in code ? { fault: `${code.fault}; the assertion is left out` } : [...transforms, code];
}

/** The JavaScript that changes an answer, or why it cannot be run. */
export function readTransform(
  given: Source,
  files: AssertionContext['files'],
): Code | { readonly fault: string } {
  const text = given.text();
  if (text === undefined) return { fault: 'a `transform` that is no text is not run' };
  return readCode(text, files, javascriptEndings);
}
