import type { Source } from '../../../yaml/source.ts';
import { type GivenTest, readTests, type TestContext } from './tests.ts';

/** The tests of all scenarios: each test of one with each of its configs. */
export async function readScenarios(given: Source, context: TestContext): Promise<readonly GivenTest[]> {
  const found: GivenTest[] = [];
  for (const scenario of given.kind === 'list' ? given.items() : given.isGiven ? [given] : []) {
    if (scenario.kind !== 'mapping') {
      scenario.leave('a scenario that is no mapping is left out');
      continue;
    }
    if (scenario.at('description').isGiven)
      scenario.at('description').leave('`description` of a scenario is not carried', undefined, 'note');
    const configs = await readTests(scenario.at('config'), context);
    const given = scenario.at('tests');
    const tests = given.isGiven ? await readTests(given, context) : [undefined];
    for (const config of configs)
      for (const test of tests) found.push(test === undefined ? [config] : [config, test]);
  }
  return found;
}
