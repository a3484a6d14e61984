import type { Source } from '../../../base/yaml/source.ts';
import { type Code, javascriptEndings, readCode } from '../suite/programs.ts';
import type { Fault } from '../suite/source-files.ts';
import { type Check, type ImportedAssertion, judged } from '../suite/suite.ts';
import { toExpressionText, variablesOf } from '../suite/template.ts';
import { type AssertionContext, assertionTypeOf, type GivenAssertion } from './assertion-types.ts';

/** Returns undefined, with a note, for an assertion that cannot be imported with the same verdict. */
export function readAssertion(given: Source, context: AssertionContext): ImportedAssertion | undefined {
  if (context.transforms === undefined) return undefined;
  const template = given
    .at('$ref')
    .text()
    ?.replace(/^#\/assertionTemplates\//, '');
  const own = template === undefined ? given : context.templates.at(template);
  const type = own.at('type').text();
  if (type === undefined) {
    given.leave('an assertion without a type is left out');
    return undefined;
  }
  const changed = own.at('contextTransform');
  if (changed.isGiven) {
    changed.note('error', 'an assertion with `contextTransform` is left out', 'Write it as an exec eval.');
    own.whole();
    return undefined;
  }
  const metric = own.at('metric').text();
  if (metric?.includes('{{'))
    own.at('metric').note('note', 'the name of a metric that is a template is left out');
  const weight = own.at('weight').number() ?? 1;
  if (weight < 0) own.at('weight').leave('a weight below 0 is left out');
  const check = type === 'assert-set' ? readSet(own, context) : readOne(type, own, context);
  if ('fault' in check) {
    own.leave(nameUnset(type, own, context) ?? check.fault);
    return undefined;
  }
  const name = metric === undefined || metric.includes('{{') ? type : metric;
  return { name, check, weight: Math.max(0, weight) };
}

function nameUnset(type: string, own: Source, { vars }: AssertionContext): string | undefined {
  const value = own.at('value').text();
  const unset = (variablesOf(value ?? '') ?? []).filter((name) => !Object.hasOwn(vars, name));
  if (
    unset.length === 0 ||
    toExpressionText(value ?? '')
      ?.replaceAll(/\$\{case\.vars[^}]*\}/g, '')
      .trim() !== ''
  )
    return undefined;
  const names = [...new Set(unset)].map((name) => `\`${name}\``).join(', ');
  return `the assertion \`${type}\` is left out: the test has no variable ${names}, so its value is empty`;
}

function readOne(type: string, own: Source, context: AssertionContext): Check | Fault {
  const isInverse = type.startsWith('not-');
  const loaded = loadValue(own.at('value'), context);
  if ('fault' in loaded) return loaded;
  const transforms = transformsOf(own.at('transform'), context);
  if ('fault' in transforms) return transforms;
  const [provider, prompt] = [own.at('provider'), own.at('rubricPrompt')];
  const assertion: GivenAssertion = {
    type: isInverse ? type.slice(4) : type,
    isInverse,
    value: loaded.value,
    own,
    transforms,
    judge: provider.isGiven ? provider : context.judge,
    rubricPrompt: prompt.isGiven ? prompt : context.rubricPrompt,
  };
  const kind = assertionTypeOf(assertion.type);
  const found = (transforms.length > 0 ? kind?.changed : kind?.check)?.(assertion, context);
  if (kind === undefined || found === undefined)
    return { fault: `the assertion \`${type}\` has no equivalent and is left out` };
  if ('fault' in found) return found;
  const differs = kind.differs?.(assertion.value);
  const warnings = [
    ...(differs === undefined ? [] : [differs]),
    ...(context.isAggregated && isInverse && kind.isShare
      ? [`\`${type}\` counts as 1 or 0 towards the threshold of the test; in promptfoo as a fraction`]
      : []),
    ...(context.isAggregated && assertion.type === 'python'
      ? ['`python` counts as 1 or 0 towards the threshold of the test; in promptfoo by its score']
      : []),
  ];
  for (const warning of warnings) own.note('warning', warning);
  if (kind.isSettled)
    for (const key of ['threshold', 'config', 'provider', 'rubricPrompt'])
      if (own.at(key).isGiven)
        own
          .at(key)
          .leave(`\`${key}\` has no effect on \`${assertion.type}\`, as in promptfoo`, undefined, 'note');
  const turnsItself = 'params' in found && found.params['scored'] === true;
  return isInverse && !turnsItself ? { not: found } : found;
}

/** Requires all members. If the threshold lets one member pass alone, requires any. */
function readSet(own: Source, context: AssertionContext): Check | Fault {
  const single = { ...context, isAggregated: false };
  const parts = own
    .at('assert')
    .items()
    .map((each) => readAssertion(each, single));
  const known = parts.flatMap((part) => (part === undefined ? [] : [part]));
  if (known.length < parts.length || known.length === 0)
    return { fault: 'an assert-set is left out if one of its parts is left out' };
  const threshold = own.at('threshold').number();
  if (threshold !== undefined && known.some(({ check }) => 'type' in check && check.threshold !== undefined))
    own.note('warning', 'each part of an assert-set counts as 1 or 0; in promptfoo by its score');
  if (context.isAggregated)
    own.note(
      'warning',
      'an assert-set counts as 1 or 0 towards the threshold of the test; in promptfoo by the mean of its parts',
    );
  // A weight of 0 always passes in promptfoo.
  const counted = known.filter(({ weight }) => weight > 0);
  const checks = counted.map(({ check }) => judged(check));
  if (checks.length === 0) return { fault: 'an assert-set whose weights are all 0 is left out' };
  if (threshold === undefined || threshold === 1) return { all_of: checks };
  const isEven = counted.every(({ weight }) => weight === counted[0]?.weight);
  if (isEven && threshold > 0 && threshold <= 1 / counted.length) return { any_of: checks };
  return { fault: 'an assert-set whose threshold is neither one nor all of its parts is left out' };
}

function loadValue(source: Source, context: AssertionContext): { readonly value: unknown } | Fault {
  const value = source.whole();
  if (typeof value === 'string' && /^file:\/\/.*\.(py|js|cjs|mjs|ts|rb)(:[\w.]+)?$/.test(value))
    return { value };
  const isFile = typeof value === 'string' && value.startsWith('file://');
  const loaded = isFile ? context.files.value(value) : { value };
  if ('fault' in loaded) return loaded;
  const filled = context.nunjucks.fill(loaded.value, context.vars);
  return 'value' in filled ? filled : { fault: `an assertion whose template ${filled.fault} is left out` };
}

function transformsOf(own: Source, { transforms = [], files }: AssertionContext): readonly Code[] | Fault {
  if (!own.isGiven) return transforms;
  const code = readTransform(own, files);
  return 'fault' in code ? { fault: `${code.fault}; the assertion is left out` } : [...transforms, code];
}

/** Returns the JavaScript that transforms an answer, or why it cannot be run. */
export function readTransform(given: Source, files: AssertionContext['files']): Code | Fault {
  const text = given.text();
  if (text === undefined) return { fault: 'a `transform` that is not text does not run' };
  return readCode(text, files, javascriptEndings);
}
