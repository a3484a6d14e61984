import type { Json } from '../../base/json/json.ts';
import { matchesGlob } from '../../base/text/glob.ts';
import type { NamedApprovalRule } from '../../config/config.ts';
import { type ApprovalCheck, compileApproval } from './approval-rule.ts';

/** The approval that a tool needs by its own rule and by those whose patterns fit its names; undefined: none. */
export type ApprovalsOf = (names: readonly string[], own?: ApprovalCheck) => ApprovalCheck | undefined;

/** The rules of `spec.approvals`, each compiled for a tool when it is first asked about. Throws ExpressionError then. */
export function compileApprovals(rules: readonly NamedApprovalRule[] = []): ApprovalsOf {
  const compiled = new Map<string, ApprovalCheck>();
  const checkOf = (rule: NamedApprovalRule, tool: string): ApprovalCheck => {
    const key = JSON.stringify([rule.name, tool]);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const check = compileApproval(tool, rule);
    compiled.set(key, check);
    return check;
  };
  return (names, own) => {
    const [tool = ''] = names;
    const fitting = rules.filter(({ tools }) =>
      tools.some((pattern) => names.some((name) => matchesGlob(pattern, name))),
    );
    return combineApprovals([own, ...fitting.map((rule) => checkOf(rule, tool))]);
  };
}

/** The rules together: one that asks is enough, and who may decide, how many must and how long it may take is what all of them allow. */
export function combineApprovals(given: readonly (ApprovalCheck | undefined)[]): ApprovalCheck | undefined {
  const checks = given.filter((check) => check !== undefined);
  const [only] = checks;
  if (checks.length < 2) return only;
  const limits = checks.flatMap(({ expiresMs }) => (expiresMs === null ? [] : [expiresMs]));
  const expiresMs = limits.length === 0 ? null : Math.min(...limits);
  const lists = checks.flatMap(({ by }) => (by === undefined ? [] : [by]));
  const by =
    lists.length === 0
      ? undefined
      : lists.reduce((some, others) => some.filter((name) => others.includes(name)));
  const quorum = Math.max(...checks.map((check) => check.quorum ?? 1));
  const ask = (args: Json) => {
    for (const check of checks) {
      const needed = check(args);
      if (needed !== undefined) return { ...needed, expiresMs };
    }
    return undefined;
  };
  return Object.assign(ask, { expiresMs, by, quorum });
}
