/** The metrics that one variant can have a better one of than another. */
export const comparedMetrics = ['mean', 'pass_rate'] as const;
