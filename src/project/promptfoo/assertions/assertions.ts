import { isObject } from '../../../json/json.ts';
import type { Path } from '../../../yaml/document.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { AssertionContext, Check, GivenAssertion, ImportedAssertion } from './assertion-model.ts';
import { loadValue, transformsOf } from './assertion-values.ts';
import { changedAssertion, codeAssertion } from './code-assertions.ts';
import { embeddingAssertion } from './embedding-assertions.ts';
import { inside } from './inside.ts';
import { modelAssertion } from './model-assertions.ts';
import { textAssertion } from './text-assertions.ts';

/** One assertion; undefined, with a note, where it cannot be carried with the same verdict. */
export function readAssertion(
  given: unknown,
  at: Path | SourceLocation,
  context: AssertionContext,
): ImportedAssertion | undefined {
  // Told where the test says what it makes of its answers.
  if (context.transforms === undefined) return undefined;
  const own = resolveTemplate(given, context);
  if (!isObject(own) || typeof own['type'] !== 'string') {
    context.notes.add('error', at, 'an assertion without a type is left out');
    return undefined;
  }
  const { type, metric, weight } = own;
  const template = isObject(given) ? templateName(given) : undefined;
  const place = template === undefined ? at : ['assertionTemplates', template];
  if (refuseKeys(own, place, context.notes)) return undefined;
  const check = type === 'assert-set' ? readSet(own, at, context) : readOne(own, at, context);
  if (check === undefined) return undefined;
  const name = typeof metric === 'string' && !metric.includes('{{') ? metric : type;
  return { name, check, weight: typeof weight === 'number' && weight >= 0 ? weight : 1 };
}

function templateName(given: Readonly<Record<string, unknown>>): string | undefined {
  const reference = given['$ref'];
  return typeof reference === 'string' ? reference.replace(/^#\/assertionTemplates\//, '') : undefined;
}

function resolveTemplate(given: unknown, { templates }: AssertionContext): unknown {
  const name = isObject(given) ? templateName(given) : undefined;
  if (name === undefined) return given;
  return Object.hasOwn(templates, name) ? templates[name] : undefined;
}

const knownKeys = [
  'type',
  'value',
  'threshold',
  'weight',
  'metric',
  'transform',
  'provider',
  'config',
  'assert',
  'contextTransform',
  'rubricPrompt',
];

/** Whether it judges something else than the answer. */
function refuseKeys(
  own: Readonly<Record<string, unknown>>,
  at: Path | SourceLocation,
  notes: Notes,
): boolean {
  for (const key of Object.keys(own).filter((name) => !knownKeys.includes(name)))
    notes.add('error', inside(at, key), `\`${key}\` of an assertion is not carried`);
  for (const key of ['threshold', 'weight'].filter((name) => own[name] !== undefined && own[name] !== null))
    if (typeof own[key] !== 'number')
      notes.add('error', inside(at, key), `\`${key}\` of an assertion is no number, and is not carried`);
  if (own['contextTransform'] === undefined) return false;
  const message = 'an assertion with `contextTransform` is left out';
  notes.add('error', inside(at, 'contextTransform'), message, 'Write it as an exec eval.');
  return true;
}

function readOne(
  own: Readonly<Record<string, unknown>>,
  at: Path | SourceLocation,
  context: AssertionContext,
): Check | undefined {
  const type = String(own['type']);
  const isInverse = type.startsWith('not-');
  const loaded = loadValue(own['value'], at, context);
  if (loaded === undefined) return undefined;
  const transforms = transformsOf(own['transform'], at, context);
  if (transforms === undefined) return undefined;
  const threshold = own['threshold'];
  const provider = own['provider'];
  const assertion: GivenAssertion = {
    type: isInverse ? type.slice(4) : type,
    isInverse,
    value: loaded.value,
    threshold: typeof threshold === 'number' ? threshold : undefined,
    config: own['config'],
    at,
    transforms,
    judge: provider === undefined ? context.judge : { value: provider, at: inside(at, 'provider') },
    rubricPrompt: own['rubricPrompt'] ?? context.rubricPrompt,
  };
  const found =
    (transforms.length > 0 ? changedAssertion(assertion, transforms) : textAssertion(assertion)) ??
    codeAssertion(assertion, context) ??
    embeddingAssertion(assertion, context) ??
    modelAssertion(assertion, context);
  if (found === undefined) {
    context.notes.add(
      'error',
      inside(at, 'type'),
      `the assertion \`${type}\` has no counterpart and is left out`,
    );
    return undefined;
  }
  if ('fault' in found) {
    context.notes.add('error', at, found.fault);
    return undefined;
  }
  noteApproximation(assertion, context);
  const turnsItself = 'params' in found && found.params['scored'] === true;
  return isInverse && !turnsItself ? { not: found } : found;
}

/** Says where a verdict may differ, though the assertion is carried. */
function noteApproximation({ type, value, isInverse, at }: GivenAssertion, context: AssertionContext): void {
  const say = (message: string) => context.notes.add('warning', at, message);
  if (type === 'rouge-n')
    say('`rouge-n` is judged by rouge, which parts words and punctuation in another way');
  if (type === 'contains-json' && isObject(value))
    say('`contains-json` looks at the first JSON of the answer; there at each object in it');
  const isShare =
    /^(?:rouge-n|bleu|similar|llm-rubric|g-eval|factuality|answer-relevance|context-|model-graded)/.test(
      type,
    );
  if (context.isAggregated && isInverse && isShare)
    say(`\`not-${type}\` counts as 1 or 0 towards the threshold of the test; there as a share`);
  if (context.isAggregated && type === 'python')
    say('`python` counts as 1 or 0 towards the threshold of the test; there by its score');
}

/** All of them; with a threshold that one of them reaches alone, any of them. */
function readSet(
  own: Readonly<Record<string, unknown>>,
  at: Path | SourceLocation,
  context: AssertionContext,
): Check | undefined {
  const list: readonly unknown[] = Array.isArray(own['assert']) ? own['assert'] : [];
  const single = { ...context, isAggregated: false };
  const parts = list.map((each, index) => readAssertion(each, inside(at, 'assert', index), single));
  const known = parts.flatMap((part) => (part === undefined ? [] : [part]));
  if (known.length < parts.length || known.length === 0) {
    context.notes.add('error', at, 'an assert-set of which a part is left out is left out as a whole');
    return undefined;
  }
  const threshold = own['threshold'];
  if (
    typeof threshold === 'number' &&
    known.some(({ check }) => 'type' in check && check.threshold !== undefined)
  )
    context.notes.add('warning', at, 'each part of an assert-set counts as 1 or 0; there by its score');
  if (context.isAggregated)
    context.notes.add(
      'warning',
      at,
      'an assert-set counts as 1 or 0 towards the threshold of the test; there by the mean of its parts',
    );
  // What has a weight of 0 always passes there.
  const counted = known.filter(({ weight }) => weight > 0);
  const checks = counted.map(({ check }) => passing(check));
  if (checks.length === 0) {
    context.notes.add('error', at, 'an assert-set whose weights are all 0 is left out');
    return undefined;
  }
  if (typeof threshold !== 'number' || threshold === 1) return { all_of: checks };
  const isEven = counted.every(({ weight }) => weight === counted[0]?.weight);
  if (isEven && threshold > 0 && threshold <= 1 / counted.length) return { any_of: checks };
  context.notes.add(
    'error',
    inside(at, 'threshold'),
    'an assert-set with a threshold between one and all of its parts is left out',
  );
  return undefined;
}

/** A part that counts as passed or not. */
function passing(check: Check): Check {
  return 'type' in check && check.threshold === undefined ? { ...check, threshold: { min_score: 1 } } : check;
}
