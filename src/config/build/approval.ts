import { type ExpressionError, findExpressionErrors, findTypeErrors } from '../../expression/expression.ts';
import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { present } from '../../yaml/present.ts';
import { entriesAt, valueAt } from '../../yaml/read.ts';
import type { ApprovalRule } from '../config.ts';
import { parseDuration } from '../duration.ts';
import type { Report } from '../report.ts';

/** The `approval` of the tool at `path`; undefined when nobody has to consent. */
export function readApproval(document: YamlDocument, path: Path): ApprovalRule | undefined {
  const rule = valueAt(document, [...path, 'approval']);
  if (rule === 'required') return {};
  if (!isObject(rule)) return undefined;
  const { when, message, expires } = rule;
  return present({
    when: typeof when === 'string' ? when : undefined,
    message: typeof message === 'string' ? message : undefined,
    expiresMs: typeof expires === 'string' ? parseDuration(expires) : undefined,
  });
}

/** Expressions of approvals that cannot be compiled: errors whatever the apiVersion, for they guard. */
export function checkApprovals(document: YamlDocument): Report[] {
  return entriesAt(document, ['spec', 'tools']).flatMap((tool) => {
    const when = [...tool.path, 'approval', 'when'];
    const message = [...tool.path, 'approval', 'message'];
    return [
      ...reportErrors(when, findTypeErrors(valueAt(document, when), variables, 'bool')),
      ...reportErrors(message, findExpressionErrors(valueAt(document, message), variables)),
    ];
  });
}

const variables = ['args'] as const;

function reportErrors(path: Path, errors: readonly ExpressionError[]): Report[] {
  return errors.map(({ message, hint }) => ({
    severity: 'error',
    path,
    message,
    hint: message.includes('Unknown variable') ? 'The expression sees the arguments as `args`.' : hint,
  }));
}
