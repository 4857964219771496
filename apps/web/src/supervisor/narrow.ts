import { media } from '../shared/media';

// One column, as in the style sheets: the panels beside it become drawers.
export const narrow = media('(max-width: 899px)');
