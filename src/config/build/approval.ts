import { type ExpressionError, findExpressionErrors } from '../../expression/expression.ts';
import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Finding } from '../../yaml/finding.ts';
import { omitUndefined } from '../../yaml/present.ts';
import { entriesAt, valueAt } from '../../yaml/read.ts';
import type { ApprovalRule } from '../config.ts';
import { parseDuration } from '../duration.ts';

/** The approval rule of the tool at `path`; undefined when it needs no approval. */
export function readApproval(document: YamlDocument, path: Path): ApprovalRule | undefined {
  const rule = valueAt(document, [...path, 'approval']);
  if (rule === 'required') return {};
  if (!isObject(rule)) return undefined;
  const { when, message, expires, by } = rule;
  return omitUndefined({
    when: typeof when === 'string' ? when : undefined,
    message: typeof message === 'string' ? message : undefined,
    by: Array.isArray(by) ? by.map(String) : undefined,
    expiresMs: typeof expires === 'string' ? parseDuration(expires) : undefined,
  });
}

/** An error for each expression in an approval rule that does not compile, whatever the apiVersion. */
export function checkApprovals(document: YamlDocument): Finding[] {
  return entriesAt(document, ['spec', 'tools']).flatMap((tool) => {
    const when = [...tool.path, 'approval', 'when'];
    const message = [...tool.path, 'approval', 'message'];
    return [
      ...reportErrors(when, findExpressionErrors(valueAt(document, when), variables, 'bool')),
      ...reportErrors(message, findExpressionErrors(valueAt(document, message), variables)),
    ];
  });
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
