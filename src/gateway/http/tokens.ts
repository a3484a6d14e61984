import { createRemoteJWKSet, customFetch, type FetchImplementation } from 'jose/jwks/remote';
import { jwtVerify } from 'jose/jwt/verify';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { openFetch } from '../../process/web.ts';
import { readAll } from '../upstream/upstream.ts';
import { refuse } from '../wire/refusal.ts';

export interface TokenRules {
  readonly issuer: string;
  /** The URL of the resource, which the token must be meant for (RFC 8707). */
  readonly audience: () => string;
  readonly jwksUrl: string;
  /** Entries of `spec.private_hosts`. */
  readonly privateHosts: readonly string[];
}

interface VerifiedToken {
  readonly subject: string;
  /** The words of `scope` or `scp`, known to Signalbox or not. */
  readonly scopes: readonly string[];
}

export interface Tokens {
  /** Undefined for a token that is not valid here. Rejects if the keys of the issuer cannot be read. */
  verify(token: string): Promise<VerifiedToken | undefined>;
}

/** Verifies JWTs by the issuer's key set, which is fetched on first use and then kept for ten minutes. */
export function openTokens({ issuer, audience, jwksUrl, privateHosts }: TokenRules): Tokens {
  const send = openFetch({ named: jwksUrl, privateHosts });
  const keys = createRemoteJWKSet(new URL(jwksUrl), { [customFetch]: createKeyFetch(send) });
  return {
    verify: async (token) => {
      try {
        const { payload } = await jwtVerify(token, keys, {
          ...{ issuer, audience: audience(), algorithms: asymmetric, requiredClaims: ['exp', 'sub'] },
          clockTolerance: SKEW_SECONDS,
        });
        const { sub: subject, scope, scp } = payload;
        // A token that is bound to a key of its holder (`cnf`) proves nothing as a bearer token.
        if (typeof subject !== 'string' || !isSubject(subject) || payload['cnf'] !== undefined)
          return undefined;
        return { subject, scopes: wordsOf(scope ?? scp) };
      } catch (error) {
        if (isObject(error) && faultsOfTokens.has(String(error['code']))) return undefined;
        const what = `the keys of the issuer cannot be used (${jwksUrl.split(/[?#]/)[0]})`;
        throw new RuntimeError('PROVIDER_FAILED', `${what}: ${reasonOf(error)}`, { cause: error });
      }
    },
  };
}

/** No algorithm with a shared secret: anyone who can read the secret can make tokens, and a public key is no secret. */
const asymmetric = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const SKEW_SECONDS = 30;

const faultsOfTokens: ReadonlySet<string> = new Set([
  'ERR_JWT_EXPIRED',
  'ERR_JWT_CLAIM_VALIDATION_FAILED',
  'ERR_JWT_INVALID',
  'ERR_JWS_INVALID',
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
]);

/** People recognize callers by it, so it has no characters that cannot be seen. */
function isSubject(text: string): boolean {
  return text !== '' && text.length <= 255 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

function wordsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}

/** After a failure, fetches nothing for a while, so that calls cannot flood the issuer. Follows no redirects. */
function createKeyFetch(send: typeof fetch): FetchImplementation {
  let failed: { readonly until: number; readonly error: unknown } | undefined;
  return async (url, { headers, signal }) => {
    if (failed !== undefined && performance.now() < failed.until) throw failed.error;
    try {
      const response = await send(url, { headers, signal });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Error(`the server answered ${response.status}`);
      }
      const body = await readAll(response.body ?? [], MAX_BYTES, () =>
        refuse(502, 'keys_too_large', `the answer is longer than ${MAX_BYTES} bytes`),
      );
      requireKeys(Buffer.from(body).toString());
      failed = undefined;
      return new Response(Buffer.from(body));
    } catch (error) {
      failed = { until: performance.now() + PAUSE_MS, error };
      throw error;
    }
  };
}

const MAX_BYTES = 1024 * 1024;
const PAUSE_MS = 5_000;

function requireKeys(text: string): void {
  const set: unknown = JSON.parse(text);
  const keys = isObject(set) ? set['keys'] : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw new Error('the answer is not a set of keys (JWKS)');
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is not JSON';
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return 'it failed';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}
