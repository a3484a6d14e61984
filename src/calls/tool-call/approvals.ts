import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { compileExpressions } from '../../base/expression/expression.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { matchesGlob } from '../../base/text/glob.ts';
import { compileSchema } from '../../base/yaml/schema-check.ts';
import type { ApprovalRule, NamedApprovalRule } from '../../config/config.ts';
import {
  isQuestion,
  type PendingCall,
  type PendingChoice,
  type PendingDecision,
  type PendingRecord,
} from '../../contract/approval.ts';
import {
  type ApprovalCheck,
  type CallableTool,
  type RequiredApproval,
  readGivenArgs,
} from './callable-tool.ts';

/** The approval that a tool needs by its own rule and by the patterns that match its names; undefined: none. */
export type ApprovalsOf = (names: readonly string[], own?: ApprovalCheck) => ApprovalCheck | undefined;

/** Compiles `spec.approvals`, each rule for a tool on first use, which then throws ExpressionError. */
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

/** Combines rules: any of them can require approval. Deciders, quorum and time limit must satisfy all. */
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
  const isConditional = checks.every((check) => check.isConditional);
  return Object.assign(ask, { isConditional, expiresMs, by, quorum });
}

/** Throws ExpressionError. */
export function compileApproval(tool: string, rule: ApprovalRule): ApprovalCheck {
  const expiresMs = rule.expiresMs ?? null;
  const condition = rule.when === undefined ? undefined : compileExpressions(rule.when, ['args']);
  const text = compileExpressions(rule.message ?? `Tool "${tool}" needs approval.`, ['args']);
  const ask = (args: Json): RequiredApproval | undefined => {
    const scope = { args: parseLossless(args.text) };
    let reason = 'the config requires approval';
    try {
      const needed = condition === undefined || condition.evaluate(scope);
      if (needed === false) return undefined;
      if (needed !== true) reason = `approval.when is ${stringifyJson(needed)}, neither true nor false`;
    } catch (error) {
      reason = `approval.when failed: ${toRuntimeError(error).message}`;
    }
    return { reason, message: messageOf(tool, () => text.evaluate(scope)), expiresMs };
  };
  const isConditional = condition !== undefined;
  return Object.assign(ask, { isConditional, expiresMs, by: rule.by, quorum: rule.quorum });
}

function messageOf(tool: string, evaluate: () => unknown): string {
  try {
    const message = evaluate();
    return typeof message === 'string' ? message : stringifyJson(message);
  } catch (error) {
    return `Tool "${tool}" needs approval (its message failed: ${toRuntimeError(error).message}).`;
  }
}

export interface DecisionInput {
  readonly by: string;
  readonly reason?: string | undefined;
}

/** A decision about a pending call. */
export interface PendingDecisionInput extends DecisionInput {
  /** The `digest` of the call as the person saw it. If it is no longer that, the decision throws PENDING_CHANGED. */
  readonly digest?: string | undefined;
  /** The ID of the key or token with which the person decides. If it made the call, the decision throws OWN_CALL. */
  readonly principal?: string | undefined;
}

/** Checks `by` and `reason`, which defaults to ''. Throws USAGE. */
export function requireDecision<Decision extends PendingDecisionInput>(
  given: Decision,
): Decision & { reason: string } {
  if (!isObject(given)) throw unusable('a decision must be an object with `by`, the person who decides');
  const { reason = '', digest, principal } = given;
  for (const [name, text] of Object.entries({ reason, digest, principal }))
    if (text !== undefined && typeof text !== 'string') throw unusable(`\`${name}\` is not a string`);
  requireDecider(given.by);
  return { ...given, reason };
}

/**
 * Returns the name of the decider unchanged. Throws USAGE unless it is one non-blank line without control or invisible
 * characters, since the record keeps it.
 */
export function requireDecider(by: unknown): string {
  if (typeof by !== 'string')
    throw unusable('a decision needs `by`, a string that names the person who decides');
  if (by.trim() === '') throw unusable('`by` is empty, but a decision needs a person');
  if (/[\n\t]/.test(by) || escapeInvisible(by) !== by || !by.isWellFormed()) {
    throw unusable('`by` has control characters, line breaks or invisible marks');
  }
  return by;
}

/** Why this person may not decide about calls of the tool; undefined if they may. */
export function whyNoApprover(
  { name, approval }: Pick<CallableTool, 'name' | 'approval'>,
  by: string,
): RuntimeError | undefined {
  const { by: approvers } = approval ?? {};
  if (approvers === undefined || approvers.includes(by)) return undefined;
  const message = `"${by}" may not decide about tool "${name}"`;
  return new RuntimeError('USAGE', message, {
    hint: `Its approval names ${approvers.join(', ')}: use --by.`,
  });
}

function unusable(message: string, hint = 'Give the name of the person who decides.'): RuntimeError {
  return new RuntimeError('USAGE', message, { hint });
}

type Asked = Pick<PendingRecord, 'id' | 'tool' | 'origin' | 'quorum'>;

export function quorumOf({ approval }: Pick<CallableTool, 'approval'>): number {
  return approval?.quorum ?? 1;
}

/**
 * Why this decision is invalid for a call with a quorum; undefined if it is valid. Approvers cannot edit arguments, or
 * respond unless the outcome of the tool is unknown.
 */
export function whyNotForQuorum(
  { id, tool, origin, quorum = 1 }: Asked,
  decision: PendingDecision,
): RuntimeError | undefined {
  if (quorum <= 1) return undefined;
  const needs = `tool "${tool}" needs the approval of ${quorum} people`;
  const hint = `Approve as it is, or reject with \`signalbox pending reject ${id} --reason REASON\`.`;
  if (decision.kind === 'approved' && decision.args !== null)
    return unusable(`${needs}, so nobody can change its arguments`, hint);
  if (decision.kind === 'responded' && origin !== 'interrupted')
    return unusable(`${needs}, so nobody can answer in its place`, hint);
  return undefined;
}

/** What people can do with the call while it is open. */
export function choicesOf(record: Asked): readonly PendingChoice[] {
  if (isQuestion(record)) return ['answer', 'reject'];
  const by = { by: '', reason: '' };
  const isValid = (decision: PendingDecision) => whyNotForQuorum(record, decision) === undefined;
  return [
    'approve',
    ...(isValid({ kind: 'approved', args: anyJson, ...by }) ? (['edit'] as const) : []),
    ...(isValid({ kind: 'responded', result: anyJson, ...by }) ? (['respond'] as const) : []),
    'reject',
  ];
}

const anyJson = new Json('{}');

/** Why a stored decision has no effect for this tool: its decider may not decide, or too few people approved. */
export function whyNotDecided(
  tool: Pick<CallableTool, 'name' | 'approval'>,
  record: Asked & Pick<PendingRecord, 'consents'>,
  decision: Extract<PendingDecision, { kind: 'approved' | 'responded' }>,
): RuntimeError | undefined {
  const quorum = Math.max(record.quorum ?? 1, quorumOf(tool));
  const refusal = whyNoApprover(tool, decision.by) ?? whyNotForQuorum({ ...record, quorum }, decision);
  if (refusal !== undefined || decision.kind === 'responded' || quorum <= 1) return refusal;
  const names = new Set((record.consents ?? []).map(({ by }) => by));
  const given = [...names].filter((by) => whyNoApprover(tool, by) === undefined).length;
  if (given >= quorum) return undefined;
  return new RuntimeError('USAGE', `${given} of ${quorum} people have approved tool "${tool.name}"`);
}

/**
 * Reads the decision of the `ask` callback: approved (with edited arguments as an object or JSON text, if any),
 * rejected or responded. Throws ARGS_INVALID, and USAGE for anything else.
 */
export function readPendingDecision(pending: PendingCall, given: unknown): PendingDecision {
  const fail = (why: string) => new RuntimeError('USAGE', `the decision cannot be used: ${why}`);
  const read = (): PendingDecision => {
    if (!isObject(given)) throw fail('it is not an object');
    const { kind, reason = '', args, result } = given;
    const by = requireDecider(given['by']);
    if (typeof reason !== 'string') throw fail('`reason` is not a string');
    switch (kind) {
      case 'approved': {
        const edited = args === undefined || args === null ? null : readGivenArgs(pending.tool, args);
        return { kind, args: edited, by, reason };
      }
      case 'rejected':
        return { kind, by, reason };
      case 'responded':
        if (result === undefined) throw fail('it has no `result`');
        return { kind, result: Json.from(result), by, reason };
      default:
        throw fail('`kind` is not approved, rejected or responded');
    }
  };
  const decision = read();
  const refusal = whyNotForQuorum(pending, decision);
  if (refusal !== undefined) throw refusal;
  return decision;
}

type Question = Pick<PendingCall, 'id' | 'tool' | 'members'>;

/** Why this person may not answer or reject the question; undefined if they may. */
export function whyNotAsked(record: Question, by: string): RuntimeError | undefined {
  const people = peopleAsked(record);
  if (people === undefined || people.includes(by)) return undefined;
  return new RuntimeError('USAGE', `"${by}" may not answer ${record.id}`, {
    hint: `The question is for ${people.join(', ')}: use --by.`,
  });
}

/** The people who may answer a question; undefined: anyone with a name. */
export function peopleAsked(record: Question): readonly string[] | undefined {
  const { by: people } = membersOf(record);
  return isQuestion(record) && Array.isArray(people) ? people : undefined;
}

/** USAGE: a question takes an answer, not an approval. */
export function notApprovable({ id }: Question): RuntimeError {
  return new RuntimeError('USAGE', `${id} is a question: there is nothing to approve`, {
    hint: `Answer it with \`signalbox pending answer ${id} --value JSON\`.`,
  });
}

/** Why an answer does not fit the schema of its question, with the path of each value; empty if it fits. */
export function findAnswerFaults(record: Question, answer: Json): readonly string[] {
  const { schema } = membersOf(record);
  return compileSchema(isObject(schema) || typeof schema === 'boolean' ? schema : undefined)(answer);
}

function membersOf({ members }: Question): Readonly<Record<string, unknown>> {
  const { value } = members;
  return isObject(value) ? value : {};
}
