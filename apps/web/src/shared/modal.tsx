import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  title: string;
  close: string;
  class?: string;
  children: ComponentChildren;
  onClose(): void;
}

// A native modal dialog, open for as long as it is rendered. The browser keeps the focus inside, gives it back
// afterwards, and closes it on Escape.
export function Modal({ title, close, children, onClose, ...rest }: Props) {
  const heading = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key can arrive, which is the dialog's already.
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    return () => {
      shown?.close();
      // A dialog that is taken out of the page before it is closed would give the focus to nobody.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={rest.class ? `modal ${rest.class}` : 'modal'}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
    >
      <header class="modal-head">
        <h2 id={heading}>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" class="button quiet" onClick={onClose}>
          {close}
        </button>
      </header>
      {children}
    </dialog>
  );
}
