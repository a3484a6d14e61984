import { type ExpressionError, findExpressionErrors } from '../base/expression/expression.ts';
import { isObject } from '../base/json/json.ts';
import { mayBothMatch } from '../base/text/glob.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { as, type Fields, read, readFields, usual, usually } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { entriesAt, integerAt, textAt, valueAt } from '../base/yaml/read.ts';
import { duration } from './duration.ts';

const ruleProperties = {
  when: {
    type: 'string',
    [read]: textAt,
    description:
      'Approval is needed if this `${…}` over `args` is true, or cannot be evaluated. Default: for every call.',
  },
  message: {
    type: 'string',
    [read]: textAt,
    description: 'The message for the person; may contain `${…}` over `args`.',
  },
  by: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', pattern: '\\S' },
    description:
      'Who may decide, by the names that `--by` gives. Applies to every waiting call of the tool, whatever asked for the decision. Default: anyone who gives a name.',
  },
  quorum: {
    type: 'integer',
    minimum: 1,
    [read]: (document: YamlDocument, path: Path) => integerAt(document, path, 2),
    description:
      'How many different people of `by` must approve. One rejection is enough to reject. Default: 1.',
  },
  expires: {
    ...duration,
    [as]: 'expiresMs',
    description:
      'How long a decision may take, such as 24h or 7d; after that the call fails. Default: no limit.',
  },
} as const;

export type ApprovalRule = Fields<typeof ruleProperties>;

export const approvalSchema: Readonly<Record<string, unknown>> & { readonly [read]: typeof readApproval } = {
  type: ['string', 'object'],
  [read]: readApproval,
  pattern: '^required$',
  description:
    'When a person must approve before the tool runs. required: every time. A mapping sets the condition and the message.',
  additionalProperties: false,
  properties: ruleProperties,
};

const namedRuleProperties = {
  tools: {
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1 },
    [usual]: [],
    description: 'Names of tools, such as Bash or mcp__prod__*. `*` matches any characters, `?` exactly one.',
  },
  ...ruleProperties,
} as const;

/** An approval rule for tools whose names match a pattern, no matter which system runs them. */
export interface NamedApprovalRule extends Fields<typeof namedRuleProperties> {
  readonly name: string;
}

export const approvalsSchema = {
  type: ['object', 'null'],
  description:
    'Approvals by name, for tools whose names match a pattern, no matter who runs them: Signalbox, the client of a gateway, or an agent that calls Signalbox as a hook. If several match, all apply.',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['tools'],
    properties: namedRuleProperties,
  },
} as const;

export const agentsSchema = {
  type: ['object', 'null'],
  description: 'Agents that call Signalbox as a hook (`signalbox hook`).',
  additionalProperties: false,
  properties: {
    pending: {
      type: 'string',
      enum: ['hold', 'refuse'],
      [usual]: 'refuse',
      description:
        'What happens when a person must decide about a call: the agent waits, or the call is refused with the id of the pending call. Default: refuse.',
    },
    hold_ms: usually(120_000, {
      type: 'integer',
      minimum: 1,
      maximum: 86_400_000,
      description: 'How long the agent waits before the call is refused.',
    }),
  },
} as const;

export function readApprovals(document: YamlDocument): readonly NamedApprovalRule[] | undefined {
  const rules = placedRules(document).map(({ path: _, ...rule }) => rule);
  return rules.length === 0 ? undefined : rules;
}

function readApproval(document: YamlDocument, path: Path): ApprovalRule | undefined {
  const rule = valueAt(document, path);
  if (rule === 'required') return {};
  return isObject(rule) ? readFields(document, path, ruleProperties) : undefined;
}

/** Reports expressions that do not compile and quorums that cannot be reached, as errors for every apiVersion. */
export function checkApprovals(document: YamlDocument): Finding[] {
  const ofTools = entriesAt(document, ['spec', 'tools']).map(({ path }) => [...path, 'approval']);
  const named = entriesAt(document, ['spec', 'approvals']).map(({ path }) => path);
  return [...ofTools, ...named].flatMap((path) => checkRule(document, path));
}

function checkRule(document: YamlDocument, path: Path): Finding[] {
  const when = [...path, 'when'];
  const message = [...path, 'message'];
  return [
    ...reportErrors(when, findExpressionErrors(valueAt(document, when), variables, 'bool')),
    ...reportErrors(message, findExpressionErrors(valueAt(document, message), variables)),
    ...checkQuorum(document, path),
  ];
}

function checkQuorum(document: YamlDocument, path: Path): Finding[] {
  const quorum = valueAt(document, [...path, 'quorum']);
  const by = valueAt(document, [...path, 'by']);
  if (typeof quorum !== 'number' || quorum <= 1) return [];
  const named = Array.isArray(by) ? new Set(by).size : 0;
  if (named >= quorum) return [];
  const message =
    named === 0
      ? 'a quorum needs `by`, the people who may approve'
      : `a quorum of ${quorum} cannot be reached: \`by\` names ${named}`;
  const hint =
    'Name at least that many people in `by`: without names, one person could approve under several.';
  return [{ severity: 'error', path: [...path, 'quorum'], message, hint }];
}

const variables = ['args'] as const;

function reportErrors(path: Path, errors: readonly ExpressionError[]): Finding[] {
  return errors.map(({ message, hint }) => ({
    severity: 'error',
    path,
    message,
    hint: message.includes('Unknown variable') ? 'The expression sees the arguments as `args`.' : hint,
  }));
}

interface PlacedRule extends NamedApprovalRule {
  readonly path: Path;
}

function placedRules(document: YamlDocument): PlacedRule[] {
  return entriesAt(document, ['spec', 'approvals']).map(({ name, path }) => ({
    ...{ name, path },
    ...readFields(document, path, namedRuleProperties),
  }));
}

/** Reports tools with two approval rules that share too few people: their calls would wait forever. */
export function checkSharedDeciders(document: YamlDocument): Finding[] {
  const ofTools = entriesAt(document, ['spec', 'tools']).flatMap(({ name, path }): PlacedRule[] => {
    const at = [...path, 'approval'];
    const rule = readApproval(document, at);
    return rule === undefined ? [] : [{ name, path: at, tools: [name], ...rule }];
  });
  const named = placedRules(document);
  return named.flatMap((rule, index) =>
    [...ofTools, ...named.slice(0, index)].flatMap((other) => {
      const tool = rule.tools.find((one) => other.tools.some((each) => mayBothMatch(one, each)));
      return tool === undefined ? [] : findTooFew(rule, other, tool);
    }),
  );
}

function findTooFew(one: PlacedRule, other: PlacedRule, tool: string): Finding[] {
  const { by: some } = one;
  const { by: others } = other;
  const needed = Math.max(one.quorum ?? 1, other.quorum ?? 1);
  if (some === undefined || others === undefined) return [];
  const both = some.filter((name) => others.includes(name)).length;
  if (both >= needed) return [];
  const message = `\`by\` has ${both === 0 ? 'nobody' : `only ${both}`} in common with "${other.name}", and both apply to ${tool}`;
  const hint = `Name at least ${needed} of the same people in both, or merge the two entries.`;
  return [{ severity: 'error', path: [...one.path, 'by'], message, hint }];
}
