import { isObject } from '../../base/json/json.ts';
import { mayBothMatch } from '../../base/text/glob.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { choiceAt, entriesAt, itemsAt, millisecondsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import type { AgentsConfig, ApprovalRule, NamedApprovalRule } from '../config.ts';
import { readApproval, readRule } from './approval.ts';

/** `spec.approvals`; undefined where there are none. */
export function readApprovals(document: YamlDocument): readonly NamedApprovalRule[] | undefined {
  const rules = placedRules(document).map(({ name, tools, rule }) => ({ name, tools, ...rule }));
  return rules.length === 0 ? undefined : rules;
}

/** `spec.agents`; undefined where it is not there. */
export function readAgents(document: YamlDocument): AgentsConfig | undefined {
  const path = ['spec', 'agents'];
  if (!isObject(valueAt(document, path))) return undefined;
  return {
    pending: choiceAt(document, [...path, 'pending'], ['hold', 'refuse']) ?? 'refuse',
    holdMs: millisecondsAt(document, [...path, 'hold_ms']) ?? 120_000,
  };
}

interface PlacedRule {
  readonly name: string;
  readonly path: Path;
  readonly tools: readonly string[];
  readonly rule: ApprovalRule;
}

function placedRules(document: YamlDocument): PlacedRule[] {
  return entriesAt(document, ['spec', 'approvals']).map(({ name, path, value }) => ({
    ...{ name, path },
    tools: itemsAt(document, [...path, 'tools']).flatMap((item) => textAt(document, item) ?? []),
    rule: isObject(value) ? readRule(value) : {},
  }));
}

/** An error where two approvals hold for a tool, and too few people may decide by both: its calls would wait for ever. */
export function checkSharedDeciders(document: YamlDocument): Finding[] {
  const ofTools = entriesAt(document, ['spec', 'tools']).flatMap(({ name, path }): PlacedRule[] => {
    const rule = readApproval(document, path);
    return rule === undefined ? [] : [{ name, path: [...path, 'approval'], tools: [name], rule }];
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
  const { by: some } = one.rule;
  const { by: others } = other.rule;
  const needed = Math.max(one.rule.quorum ?? 1, other.rule.quorum ?? 1);
  if (some === undefined || others === undefined) return [];
  const both = some.filter((name) => others.includes(name)).length;
  if (both >= needed) return [];
  const message = `\`by\` names ${both === 0 ? 'nobody' : `only ${both}`} whom "${other.name}" names too, and both hold for ${tool}`;
  const hint = `Name the same people, at least ${needed}, or put both into one entry.`;
  return [{ severity: 'error', path: [...one.path, 'by'], message, hint }];
}
