import { findCheck } from '../../../checks/registry.ts';
import { isObject } from '../../../json/json.ts';
import { asDraft07 } from '../../../yaml/ajv.ts';
import type { Source } from '../../../yaml/source.ts';
import type { ImportedAssertion } from '../../promptfoo/assertions/assertion-model.ts';
import { type ArenaFile, leaveIdle } from './arena-files.ts';

/** A scenario as a case: what is asked, and what is asserted of the answer. */
export interface ArenaCase {
  readonly id: string;
  readonly taskType: string | undefined;
  readonly question: string;
  readonly assertions: readonly ImportedAssertion[];
  /** The ids of the providers that alone are asked; undefined where all are. */
  readonly providers: readonly string[] | undefined;
  readonly spec: Source;
}

/** The case of a scenario: its first turn; undefined, with a note, where nobody asks anything in it. */
export function caseOfScenario({ spec, name }: ArenaFile): ArenaCase | undefined {
  leaveIdle(spec, ['description']);
  const turns = spec.at('turns');
  const [first, ...more] = turns.items();
  const question = first?.at('role').word('user') === undefined ? undefined : first.at('content').text();
  if (first === undefined || question === undefined) {
    spec.leave('a scenario that does not begin with a text of the user is left out');
    return undefined;
  }
  if (question.includes('{{'))
    first.at('content').note('error', 'the template of a turn stays as it is: PromptKit alone fills it in');
  for (const turn of more)
    turn.leave(
      'a turn after the first is left out: it goes on from what the model said',
      'Write the conversation as a pipeline, and make that the subject.',
    );
  return {
    id: spec.at('id').scalar() ?? name,
    taskType: spec.at('task_type').text(),
    question,
    assertions: [
      ...assertionsAt(first.at('assertions')),
      ...assertionsAt(spec.at('conversation_assertions')),
    ],
    providers: spec.at('providers').texts(),
    spec,
  };
}

/** Assertions whose type is built in under PromptKit’s name; others are noted. One that holds at times only is none that always holds. */
export function assertionsAt(list: Source): readonly ImportedAssertion[] {
  return list.items().flatMap((each) => {
    const type = each.at('type').text();
    if (type === undefined || findCheck(type) === undefined) {
      each.leave(`the assertion \`${type ?? ''}\` has no counterpart and is left out`);
      return [];
    }
    const found = conditions.filter((key) => each.at(key).isGiven).map((key) => `\`${key}\``);
    if (found.length > 0) {
      each.leave(`an assertion with ${found.join(', ')} is left out`);
      return [];
    }
    leaveIdle(each, ['message', 'description']);
    const members = each
      .at('params')
      .members()
      .filter(([key]) => key !== 'message');
    each.at('params').at('message').text();
    const params = Object.fromEntries(members.map(([key, value]) => [key, value.whole()]));
    const { schema } = params;
    const check = { type, params: isObject(schema) ? { ...params, schema: asDraft07(schema) } : params };
    return [{ name: each.at('id').text() ?? type, check, weight: 1 }];
  });
}

/** What changes when, or how often, an assertion has to hold. */
const conditions = [
  'when',
  'pass_threshold',
  'threshold',
  'min_score',
  'max_score',
  'enabled',
  'trigger',
  'sample_percentage',
];
