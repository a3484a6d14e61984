import { Json } from '../../../base/json/json.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';
import { textsOf, textsParam } from '../text/text-params.ts';
import { argsOf } from './call-arguments.ts';
import type { Members } from './exact-values.ts';
import { tool } from './tool-params.ts';
import { formatCallCount } from './wording.ts';

export const invariantFieldsPreserved: Check = {
  type: 'invariant_fields_preserved',
  aliases: [],
  family: 'tools',
  summary:
    'How many of the arguments, once given, were given in every later call of the tool, with whatever value; in the whole conversation.',
  range: 'ratio',
  params: {
    tool,
    fields: { schema: textsParam, required: true, description: 'Names of arguments.' },
  },
  example: {
    params: { tool: 'search', fields: ['city', 'date'] },
    context: {
      tool_calls: [
        { name: 'search', args: { city: 'Oslo', date: 'May 1' }, result: '', error: '', index: 1 },
        { name: 'search', args: { city: 'Oslo' }, result: '', error: '', index: 3 },
      ],
    },
    score: 0.5,
  },
  run: ({ params, request: { context } }) => {
    const calls = context.tool_calls.filter(({ name }) => name === params['tool']).map(argsOf);
    const fields = textsOf(params, 'fields');
    const lost = fields.filter((field) => isLost(calls, field));
    const preserved = fields.length - lost.length;
    const data = Json.from({ preserved, total: fields.length, lost, calls: calls.length });
    const among = `among ${formatCallCount(calls.length)} of ${params['tool']}`;
    const detail = lost.length === 0 ? `nothing was lost ${among}` : `lost: ${lost.join(', ')}, ${among}`;
    return scored(preserved / fields.length, detail, data);
  },
};

function isLost(calls: readonly Members[], field: string): boolean {
  const first = calls.findIndex((args) => Object.hasOwn(args, field));
  return first !== -1 && calls.slice(first).some((args) => !Object.hasOwn(args, field));
}
