"""The local service: pages for people, an HTTP interface for programs.

`create_app` in `newfound.serve.app` makes the application, `newfound.serve.run` starts it. It needs
the extra ``serve``: ``pip install 'newfound[serve]'``. Nothing is computed here that the library
does not offer: requests are turned into calls, and results into JSON and pages.
"""
