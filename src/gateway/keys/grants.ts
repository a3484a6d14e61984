import { matchesGlob } from '../../base/text/glob.ts';
import { type Scope, scopes } from '../../contract/caller.ts';
import type { KeyRecord, KeyRole } from '../../store/keys/key-book.ts';

const scopesOfRole: Readonly<Record<KeyRole, readonly Scope[]>> = {
  viewer: ['pendings:read', 'runs:read'],
  approver: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate'],
  admin: scopes,
};

/** A key has the scopes of its role, and `tools:call` if it lists tools. */
export function scopesOf({ role, tools }: Pick<KeyRecord, 'role' | 'tools'>): ReadonlySet<Scope> {
  const ofRole = role === null ? [] : scopesOfRole[role];
  return new Set(tools === null ? ofRole : [...ofRole, 'tools:call']);
}

/**
 * Who may call a tool over HTTP: a caller with the scope `tools:call`, and one whose key lists patterns only if one of
 * them matches the name. `tools`: null without such a list.
 */
export function mayCall(
  { scopes, tools }: { readonly scopes: ReadonlySet<Scope>; readonly tools: readonly string[] | null },
  tool: string,
): boolean {
  return scopes.has('tools:call') && (tools?.some((pattern) => matchesGlob(pattern, tool)) ?? true);
}
