import { type ExpressionError, findExpressionErrors } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { entriesAt, valueAt } from '../../base/yaml/read.ts';
import type { ApprovalRule } from '../config.ts';
import { parseDuration } from '../duration.ts';

/** The approval rule of the tool at `path`; undefined when it needs no approval. */
export function readApproval(document: YamlDocument, path: Path): ApprovalRule | undefined {
  const rule = valueAt(document, [...path, 'approval']);
  if (rule === 'required') return {};
  return isObject(rule) ? readRule(rule) : undefined;
}

/** What a rule says of when, who and how long. */
export function readRule({
  when,
  message,
  expires,
  by,
  quorum,
}: Readonly<Record<string, unknown>>): ApprovalRule {
  return omitUndefined({
    when: typeof when === 'string' ? when : undefined,
    message: typeof message === 'string' ? message : undefined,
    by: Array.isArray(by) ? by.map(String) : undefined,
    quorum: typeof quorum === 'number' && quorum > 1 ? quorum : undefined,
    expiresMs: typeof expires === 'string' ? parseDuration(expires) : undefined,
  });
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
