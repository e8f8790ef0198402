document.body.textContent = 'laju';
