import type { HookSet } from '../../calls/hooks/links.ts';
import type { GatewayConfig } from '../../config/config.ts';
import type { FallbackWatch } from '../fallback/turn.ts';
import type { Admission, AuditLog, Caller, SeenMessages, ToolJudge } from '../ports.ts';
import type { HeldBytes } from '../stream/held-bytes.ts';
import type { OfferedModel } from '../upstream/upstream.ts';
import type { EndpointCodec, EndpointName, WireRules } from '../wire/codec.ts';

/** What the calls of a gateway use. */
export interface GatewayServices {
  readonly config: GatewayConfig;
  /** What is offered, in the order of the config. */
  readonly models: readonly OfferedModel[];
  /** The model of that name at an endpoint. Throws RefusedCall (404). */
  readonly modelOf: (endpoint: EndpointName, name: string) => OfferedModel;
  readonly codecs: Readonly<Record<EndpointName, EndpointCodec>>;
  readonly rules: WireRules;
  /** What streams hold, all together. */
  readonly heldBytes: HeldBytes;
  readonly fallback: FallbackWatch;
  readonly admission: Admission;
  /** Whether every call needs a key. */
  readonly requiresKeys: boolean;
  /** Undefined: no row is kept. */
  readonly audit: AuditLog | undefined;
  /** Undefined: tool hooks do not judge. */
  readonly tools: ToolJudge | undefined;
  /** Undefined: every hook judges all messages. */
  readonly seen: SeenMessages | undefined;
  /** Told of faults of the gateway itself. */
  readonly report: (thrown: unknown) => void;
  /** The hooks that a caller's calls pass. */
  hooksOf(caller: Caller): HookSet;
}
