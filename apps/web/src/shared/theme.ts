import { effect } from '@preact/signals';
import { oneOf, preference } from './preference';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = preference<Theme>('watchbill.theme', 'system', oneOf(...themes));

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
});
