import { longestMs } from '../base/time/longest-timer.ts';
import type { YamlDocument } from '../base/yaml/document.ts';
import { execKeyPatterns, isAt, textAt, valueAt } from '../base/yaml/read.ts';
import type { Violation } from '../base/yaml/violation.ts';

/**
 * How a violation in a PromptKit file is treated: as an error, as fine, or as a warning with the value
 * assumed.
 */
export type Tolerance =
  | { readonly as: 'error' }
  /** Read alike by PromptKit and Signalbox, so there is no warning. */
  | { readonly as: 'fine' }
  | { readonly as: 'warning'; readonly reading: string };

/**
 * How a violation is treated in a `promptkit.altairalabs.ai/v1alpha1` file. PromptKit’s loader accepts many;
 * the value that is then assumed is the safe one, and the config is built with it.
 */
export function tolerate(document: YamlDocument, violation: Violation): Tolerance {
  const { kind, path, keyword, params } = violation;
  // PromptKit knows no limits, and one that is passed over would be none.
  if (isAt(path, ...neverPassedOver)) return error;
  if (kind === 'key') return warning('it is ignored');
  if (isInSandbox(violation)) return warning('what names the sandbox never starts');
  if (kind === 'missing') return isToolCommand(violation) ? warning('a call of the tool fails') : error;
  const value = valueAt(document, path);
  if (typeof value === 'object' && value !== null) return tolerateNested(violation);
  const reading = readScalar(document, violation, value);
  if (reading !== undefined) return warning(reading);
  if (value === null) return isAt(path, ...neverNull) ? error : fine;
  if (value === '' && isAt(path, ...emptyIsAbsent)) return fine;
  const takesText = keyword === 'type' && [params['type']].flat().includes('string');
  return takesText && typeof value !== 'string' ? fine : error;
}

const error: Tolerance = { as: 'error' };
const fine: Tolerance = { as: 'fine' };
const warning = (reading: string): Tolerance => ({ as: 'warning', reading });

const neverPassedOver = ['limits', 'limits.*', 'nice'].flatMap((key) => [
  ...execKeyPatterns(key),
  `spec.defaults.${key}`,
]);

const neverNull = ['spec.hooks.*', 'spec.evals.*', 'spec.providers.*'];

const emptyIsAbsent = [
  ...execKeyPatterns('sandbox'),
  'spec.providers.*.id',
  'spec.providers.*.request_timeout',
  'spec.state_store.type',
  'spec.state_store.path',
  'spec.logging.defaultLevel',
  'spec.logging.format',
];

/** Whether it is a key that belongs to the mode of a sandbox, which PromptKit's loader hands on unread. */
function isInSandbox({ path }: Violation): boolean {
  return path[0] === 'spec' && path[1] === 'sandboxes' && path.length > 3 && path[3] !== 'mode';
}

function isToolCommand({ path }: Violation): boolean {
  return isAt(path, 'spec.tools.*.exec.command');
}

function tolerateNested({ path, keyword }: Violation): Tolerance {
  if (isAt(path, 'spec.hooks.*.phases') && keyword === 'minItems') return warning(everyPhase);
  return isToolSchema(path) ? warning('a call of the tool fails') : error;
}

function isToolSchema(path: Violation['path']): boolean {
  return isAt(path, 'spec.tools.*.input_schema', 'spec.tools.*.output_schema');
}

const everyPhase = 'the hook runs at every phase of its type';

/** The closed reading of a scalar that PromptKit’s loader would have misread; undefined when it would not. */
function readScalar(document: YamlDocument, violation: Violation, value: unknown): string | undefined {
  const { path } = violation;
  if (isAt(path, 'spec.hooks.*.phases.*')) return everyPhase;
  if (isToolCommand(violation) && (value === '' || value === null)) return 'a call of the tool fails';
  if (value === null) return undefined;
  if (isToolSchema(path)) return 'a call of the tool fails';
  if (value !== '' && isAt(path, 'spec.providers.*.request_timeout')) return 'the default applies';
  if (value !== '' && isAt(path, 'spec.state_store.type')) return 'whatever needs the store fails';
  if (isAt(path, 'spec.hooks.*.mode')) return `it is read as ${defaultMode(document, path)}`;
  if (isAt(path, ...execKeyPatterns('runtime'))) return 'it is read as exec';
  if (isAt(path, ...execKeyPatterns('env.*'))) return 'it is left out';
  return typeof value === 'number' && Number.isFinite(value) ? readNumber(path, value) : undefined;
}

function defaultMode(document: YamlDocument, path: Violation['path']): string {
  const hook = textAt(document, [...path.slice(0, -1), 'hook']);
  return hook === 'session' || hook === 'eval' ? 'observe' : 'filter';
}

function readNumber(path: Violation['path'], value: number): string | undefined {
  if (isAt(path, 'spec.providers.*.defaults.max_tokens')) {
    return value < 1 ? 'the default applies' : `it is read as ${Math.trunc(value)}`;
  }
  if (!isAt(path, ...execKeyPatterns('timeout_ms'), 'spec.tools.*.timeout_ms')) return undefined;
  const whole = Math.min(Math.trunc(value), longestMs);
  return whole < 1 ? 'the default applies' : `it is read as ${whole}`;
}
