import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { type Mapping, mappingAt } from './mapping.ts';

const knownKeys = [
  'vars',
  'assert',
  'description',
  'options',
  'threshold',
  'metadata',
  'provider',
  'providers',
  'prompts',
];
const knownOptions = [
  'disableVarExpansion',
  'disableDefaultAsserts',
  'provider',
  'rubricPrompt',
  'transform',
  'postprocess',
  // In which order tests run decides no verdict.
  'runSerially',
];

/** Notes what is not carried of a test, or of `defaultTest`. */
export function noteKeys(test: Mapping, at: Path | SourceLocation, notes: Notes): void {
  const inside = (...more: Path): Path | SourceLocation => ('file' in at ? at : [...at, ...more]);
  const isGiven = (holder: Mapping) => (name: string) => holder[name] !== undefined && holder[name] !== null;
  for (const key of Object.keys(test).filter((name) => isGiven(test)(name) && !knownKeys.includes(name)))
    notes.add('error', inside(key), `\`${key}\` of a test is not carried`);
  const options = mappingAt(test, 'options');
  const others = Object.keys(options)
    .filter(isGiven(options))
    .filter((name) => !knownOptions.includes(name));
  for (const key of others)
    notes.add('error', inside('options', key), `the option \`${key}\` of a test is not carried`);
  const isMapping = (name: string) => test[name] === undefined || test[name] === null || isObject(test[name]);
  for (const key of ['metadata', 'options'].filter((name) => !isMapping(name)))
    notes.add('error', inside(key), `\`${key}\` of a test is no mapping, and is not carried`);
  const { threshold } = test;
  if (isGiven(test)('threshold') && typeof threshold !== 'number')
    notes.add('error', inside('threshold'), 'a threshold that is no number is not carried');
  if (isGiven(test)('assert') && !Array.isArray(test['assert']))
    notes.add('error', inside('assert'), 'assertions that are no list are left out');
}
