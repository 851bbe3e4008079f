"""The stages that a Spark session has run so far."""


def stages(spark):
    """All stages of the application so far."""
    gateway = spark.sparkContext._gateway
    store = spark.sparkContext._jsc.sc().statusStore()
    empty = gateway.new_array(gateway.jvm.double, 0), gateway.jvm.java.util.ArrayList()
    found = store.stageList(gateway.jvm.java.util.ArrayList(), False, False, *empty)
    return [found.apply(at) for at in range(found.size())]


def last_stage(spark):
    return max((stage.stageId() for stage in stages(spark)), default=-1)
