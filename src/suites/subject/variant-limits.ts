/** Variants of one suite. */
export const mostVariants = 16;

/** Cases of a matrix, over all its variants: each asks its subject anew, so that more are rather a mistake. */
export const mostMatrixCases = 1_000_000;
