import { findCheck } from '../../../checks/registry.ts';
import { isObject } from '../../../json/json.ts';
import { asDraft07 } from '../../../yaml/ajv.ts';
import type { Path } from '../../../yaml/document.ts';
import type { ImportedAssertion } from '../../promptfoo/assertions/assertion-model.ts';
import type { ArenaFile } from './arena-files.ts';

/** A scenario as a case: what is asked, and what is asserted of the answer. */
export interface ArenaCase {
  readonly id: string;
  readonly taskType: string | undefined;
  readonly question: string;
  readonly assertions: readonly ImportedAssertion[];
}

/** The case of a scenario: its first turn; undefined, with a note, where nobody asks anything in it. */
export function caseOfScenario(file: ArenaFile): ArenaCase | undefined {
  const { spec } = file;
  const turns: readonly unknown[] = Array.isArray(spec['turns']) ? spec['turns'] : [];
  const [first, ...more] = turns;
  if (!isObject(first) || first['role'] !== 'user' || typeof first['content'] !== 'string') {
    file.note(
      'error',
      ['spec', 'turns'],
      'a scenario that does not begin with a text of the user is left out',
    );
    return undefined;
  }
  for (const [index] of more.entries())
    file.note(
      'error',
      ['spec', 'turns', index + 1],
      'a turn after the first is left out: it goes on from what the model said',
      'Write the conversation as a pipeline, and make that the subject.',
    );
  const { id, task_type: taskType } = spec;
  return {
    id: typeof id === 'string' ? id : file.name,
    taskType: typeof taskType === 'string' ? taskType : undefined,
    question: first['content'],
    assertions: [
      ...assertionsAt(file, first['assertions'], ['spec', 'turns', 0, 'assertions']),
      ...assertionsAt(file, spec['conversation_assertions'], ['spec', 'conversation_assertions']),
    ],
  };
}

/** Assertions whose type is built in under PromptKit’s name; others are noted. */
export function assertionsAt(file: ArenaFile, given: unknown, at: Path): readonly ImportedAssertion[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  return list.flatMap((each, index) => {
    const place = [...at, index];
    const type = isObject(each) ? each['type'] : undefined;
    if (!isObject(each) || typeof type !== 'string' || findCheck(type) === undefined) {
      file.note('error', place, `the assertion \`${String(type)}\` has no counterpart and is left out`);
      return [];
    }
    const { message: _, ...params } = isObject(each['params']) ? each['params'] : {};
    const name = typeof each['id'] === 'string' ? each['id'] : type;
    const { schema } = params;
    const check = { type, params: isObject(schema) ? { ...params, schema: asDraft07(schema) } : params };
    return [{ name, check, weight: 1 }];
  });
}
