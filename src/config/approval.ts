import { type ExpressionError, findExpressionErrors } from '../base/expression/expression.ts';
import { isObject } from '../base/json/json.ts';
import { mayBothMatch } from '../base/text/glob.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { as, type Fields, read, readFields, usual, usually } from '../base/yaml/fields.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { entriesAt, integerAt, textAt, valueAt } from '../base/yaml/read.ts';
import { duration } from './duration.ts';

/** When a person must approve a call, and who: the same keys at a tool and for patterns of tools. */
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
    // One is enough anyway.
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

/** When a tool call needs the approval of a person. */
export type ApprovalRule = Fields<typeof ruleProperties>;

/** `approval` of a tool. */
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

/** The same for all tools whose names fit a pattern, whoever runs them. */
export interface NamedApprovalRule extends Fields<typeof namedRuleProperties> {
  readonly name: string;
}

/** `spec.approvals`. */
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

/** `spec.agents`. */
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

/** `spec.approvals`; undefined where there are none. */
export function readApprovals(document: YamlDocument): readonly NamedApprovalRule[] | undefined {
  const rules = placedRules(document).map(({ path: _, ...rule }) => rule);
  return rules.length === 0 ? undefined : rules;
}

/** The approval rule at `path`; undefined when it needs no approval. */
function readApproval(document: YamlDocument, path: Path): ApprovalRule | undefined {
  const rule = valueAt(document, path);
  if (rule === 'required') return {};
  return isObject(rule) ? readFields(document, path, ruleProperties) : undefined;
}

/** An error for each expression in an approval rule that does not compile, and for each quorum that nobody can reach, whatever the apiVersion. */
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

/** A rule, and where it stands. */
interface PlacedRule extends NamedApprovalRule {
  readonly path: Path;
}

function placedRules(document: YamlDocument): PlacedRule[] {
  return entriesAt(document, ['spec', 'approvals']).map(({ name, path }) => ({
    ...{ name, path },
    ...readFields(document, path, namedRuleProperties),
  }));
}

/** An error where two approvals hold for a tool, and too few people may decide by both: its calls would wait for ever. */
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
