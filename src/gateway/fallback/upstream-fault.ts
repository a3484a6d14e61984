/** An upstream that failed by a fault that another need not have, before anything of its answer was used. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
}
