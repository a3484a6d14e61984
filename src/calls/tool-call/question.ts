import { RuntimeError } from '../../base/errors.ts';
import { isObject, type Json } from '../../base/json/json.ts';
import { compileSchema } from '../../base/yaml/schema-check.ts';
import type { PendingCall } from '../../contract/approval.ts';
import { isQuestion } from '../../contract/question.ts';

type Asked = Pick<PendingCall, 'id' | 'tool' | 'members'>;

/** Why this person may not answer the question, or say no to it; undefined where they may. */
export function whyNotAsked(record: Asked, by: string): RuntimeError | undefined {
  const { by: people } = membersOf(record);
  if (!isQuestion(record) || !Array.isArray(people) || people.includes(by)) return undefined;
  return new RuntimeError('USAGE', `"${by}" may not answer ${record.id}`, {
    hint: `It asks ${people.join(', ')}: use --by.`,
  });
}

/** USAGE: a question is answered, and there is nothing to approve. */
export function notApprovable({ id }: Asked): RuntimeError {
  return new RuntimeError('USAGE', `${id} is a question: there is nothing to approve`, {
    hint: `Answer it with \`signalbox pending answer ${id} --value JSON\`.`,
  });
}

/** Why an answer does not fit the schema of its question, with the path of each value; empty where it does. */
export function findAnswerFaults(record: Asked, answer: Json): readonly string[] {
  const { schema } = membersOf(record);
  return compileSchema(isObject(schema) || typeof schema === 'boolean' ? schema : undefined)(answer);
}

function membersOf({ members }: Asked): Readonly<Record<string, unknown>> {
  const { value } = members;
  return isObject(value) ? value : {};
}
