import { isObject } from '../../../json/json.ts';
import type { Notes } from '../../suite-import/notes.ts';
import { noteKeys } from './test-keys.ts';
import { type GivenTest, readTests, type TestContext } from './tests.ts';

/** The tests of all scenarios: each test of one with each of its configs. */
export async function readScenarios(given: unknown, context: TestContext): Promise<readonly GivenTest[]> {
  if (given === undefined) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const found: GivenTest[] = [];
  for (const [index, scenario] of list.entries()) {
    for (const test of await readScenario(scenario, index, context)) found.push(test);
  }
  return found;
}

async function readScenario(
  scenario: unknown,
  index: number,
  context: TestContext,
): Promise<readonly GivenTest[]> {
  if (!isObject(scenario)) return leftOut(context.notes, index);
  const at = ['scenarios', index];
  for (const key of Object.keys(scenario).filter(
    (name) => !['config', 'tests', 'description'].includes(name),
  ))
    context.notes.add('error', [...at, key], `\`${key}\` of a scenario is not carried`);
  const configs = await readTests(scenario['config'], [...at, 'config'], context);
  const tests = await readTests(scenario['tests'] ?? [{}], [...at, 'tests'], context);
  for (const { value, at: place } of [...configs, ...tests]) noteKeys(value, place, context.notes);
  return configs.flatMap((config) =>
    tests.map((test) => ({ at: test.at, value: merged(config.value, test.value), isNoted: true })),
  );
}

type Mapping = Readonly<Record<string, unknown>>;

function merged(config: Mapping, test: Mapping): Mapping {
  const both = (key: string): Mapping => ({ ...mapping(config[key]), ...mapping(test[key]) });
  const asserts = [config['assert'], test['assert']].flatMap((each): readonly unknown[] =>
    Array.isArray(each) ? each : [],
  );
  return { ...config, ...test, vars: both('vars'), options: both('options'), assert: asserts };
}

function mapping(value: unknown): Mapping {
  return isObject(value) ? value : {};
}

function leftOut(notes: Notes, index: number): readonly GivenTest[] {
  notes.add('error', ['scenarios', index], 'a scenario that is no mapping is left out');
  return [];
}
