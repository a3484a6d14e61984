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
      'Approval is needed where this `${…}` over `args` is true, or cannot be evaluated. Default: every time.',
  },
  message: {
    type: 'string',
    [read]: textAt,
    description: 'What the person is told; may hold `${…}` over `args`.',
  },
  by: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { type: 'string', pattern: '\\S' },
    description:
      'Who may decide, as `--by` names them: about every call of the tool that waits, whoever has asked. Default: whoever has a name.',
  },
  quorum: {
    type: 'integer',
    minimum: 1,
    [read]: (document: YamlDocument, path: Path) => integerAt(document, path, 2),
    description:
      'How many different people of `by` must approve; one who rejects is enough to reject. Default: 1.',
  },
  expires: {
    ...duration,
    [as]: 'expiresMs',
    description: 'How long a decision may take, such as 24h or 7d; then the call fails. Default: for ever.',
  },
} as const;

export type ApprovalRule = Fields<typeof ruleProperties>;

export const approvalSchema: Readonly<Record<string, unknown>> & { readonly [read]: typeof readApproval } = {
  type: ['string', 'object'],
  [read]: readApproval,
  pattern: '^required$',
  description:
    'When a person must approve before the tool runs. required: every time. A mapping says when, and what the person is told.',
  additionalProperties: false,
  properties: ruleProperties,
};

const namedRuleProperties = {
  tools: {
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1 },
    [usual]: [],
    description:
      'Names of tools, in which `*` stands for any characters and `?` for one, such as Bash or mcp__prod__*.',
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
    'Approvals by name, for tools whose names fit a pattern, whoever runs them: Signalbox, the client of a gateway, or an agent that has Signalbox for a hook. Where several fit, all hold.',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['tools'],
    properties: namedRuleProperties,
  },
} as const;

export const agentsSchema = {
  type: ['object', 'null'],
  description: 'Agents that have Signalbox for a hook (`signalbox hook`).',
  additionalProperties: false,
  properties: {
    pending: {
      type: 'string',
      enum: ['hold', 'refuse'],
      [usual]: 'refuse',
      description:
        'When a person has to decide about a call: let the agent wait, or refuse the call and name the pending one. Default: refuse.',
    },
    hold_ms: usually(120_000, {
      type: 'integer',
      minimum: 1,
      maximum: 86_400_000,
      description: 'How long the agent waits; then the call is refused.',
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
      ? 'a quorum needs `by`: who may approve'
      : `a quorum of ${quorum} cannot be reached: \`by\` names ${named}`;
  const hint = 'Name at least so many different people in `by`; a name alone could be given twice by one.';
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
  const message = `\`by\` names ${both === 0 ? 'nobody' : `only ${both}`} whom "${other.name}" names too, and both hold for ${tool}`;
  const hint = `Name the same people, at least ${needed}, or put both into one entry.`;
  return [{ severity: 'error', path: [...one.path, 'by'], message, hint }];
}
